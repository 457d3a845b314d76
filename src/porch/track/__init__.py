"""Codument at work: tracks, and the questions that are asked of people."""
