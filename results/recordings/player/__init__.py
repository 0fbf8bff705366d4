"""A recording as it is played: its links, points, notes, captions, and where it lies on the call clock."""
