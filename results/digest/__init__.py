"""A dashboard view as a letter: what a week brought, beside the week before."""
