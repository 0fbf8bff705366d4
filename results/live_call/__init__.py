"""Beside a call: it is begun, what happens is kept as it happens, and then it waits for its results."""
