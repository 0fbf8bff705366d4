"""One file for each neighbour outside the house. They know neither Django nor our rows: all is handed in."""
