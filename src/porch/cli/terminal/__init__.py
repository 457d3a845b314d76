"""A run on a terminal: its live view, its prompt, its keys."""
