"""The audit trail as a chain: each line is linked to the one before, so that what is tampered with shows."""
