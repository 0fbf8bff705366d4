"""Recordings that were made elsewhere: files sent in parts, and links that are copied from."""
