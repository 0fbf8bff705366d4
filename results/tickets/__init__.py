"""Tickets in trackers elsewhere: what they are about, and whether later builds still show it."""
