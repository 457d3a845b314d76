"""Dialects: files that people write, each read into the one model."""
