"""Reviewing: what is to be looked at and why, who has it in hand, what was found, and which review stands."""
