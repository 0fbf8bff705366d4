"""Pages with their filters, kept under a name."""
