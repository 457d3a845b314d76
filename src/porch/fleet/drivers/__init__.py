"""Drivers of many runs: processes of their own that `af` starts, finds by their locks and caps."""
