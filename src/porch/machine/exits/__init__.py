"""Leaving a position: what an exit means, charges and forgets."""
