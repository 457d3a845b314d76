"""Driving a run: taken over, performed, and left drawn."""
