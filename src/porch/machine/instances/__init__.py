"""Instances in a tree: children, what follows by itself, what each state wants."""
