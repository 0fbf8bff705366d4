"""`./emma bench`: what the site costs, as ratios to the plainest Django that does the same (docs/benchmarks.md)."""
