"""Porch runs written protocols around coding agents as a durable state machine."""

__version__ = "0.1.0"
