"""Charts as inline SVG, drawn on the server: no script, no inline style, colours by class for light, dark and print.

Each has a title and a description; the page that shows one puts its figures in a table beside it.
"""
