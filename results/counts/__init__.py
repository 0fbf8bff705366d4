"""How often what was filed: read straight from the results, and kept by month beside them."""
