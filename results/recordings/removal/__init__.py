"""Recordings go: on request, after their time, and whatever lies in the store that nobody knows."""
