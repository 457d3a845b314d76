"""Branches move together with the files of their checkouts; no death leaves half of a move."""
