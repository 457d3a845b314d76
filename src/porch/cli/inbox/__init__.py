"""The inbox in the terminal: what waits for a person, what works, what is ready to merge."""
