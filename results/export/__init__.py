"""The filtered list as a file: CSV, JSON lines or a workbook, streamed or made by a worker."""
