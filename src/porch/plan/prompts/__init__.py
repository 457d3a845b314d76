"""Prompts of a plan: written, put in order, carried out, merged."""
