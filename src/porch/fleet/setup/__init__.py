"""Bringing a project to porch: what is detected, what is written, and what is left alone."""
