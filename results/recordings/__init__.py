"""Recordings of calls: recorded in the page, uploaded or copied, made playable, played, and removed."""
