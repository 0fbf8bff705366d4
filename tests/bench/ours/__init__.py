"""Our site as it is, with one address more: the almost empty page that the benchmark asks for."""
