"""Serving the pages: who may look, which page answers, and what a click does."""
