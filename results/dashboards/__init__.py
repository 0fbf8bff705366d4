"""What was rated, counted and told with its interval: pages of managers and of the eval team."""
