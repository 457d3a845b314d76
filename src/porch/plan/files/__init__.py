"""The files of a plan: where they lie, what they say, and who holds them."""
