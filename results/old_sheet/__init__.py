"""The team's old results sheet: read, looked through, imported."""
