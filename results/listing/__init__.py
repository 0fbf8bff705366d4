"""The Results tab: what is asked of the list, which rows answer it, in which order and on which page."""
