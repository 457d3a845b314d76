"""The way out of a run: merged, proposed or kept, and said to which branch."""
