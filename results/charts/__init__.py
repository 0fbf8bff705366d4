"""Charts as inline SVG, drawn on the server: no script, no inline style, colours by class for light, dark and print.

Every chart is a frozen dataclass with three functions in its module: `draw_…` gives the SVG alone, `…_table` the
same figures as a table, and `…_figure` both of them for a page, with the table to be opened. Widths are
percentages and text keeps its size, so a chart fits a phone as it fits a sheet of paper.
"""
