"""The branches of instances: measured, brought up to their parent, and moved by refs alone."""
