"""A plan under its lock, with its files brought to what the journal says."""
