"""Codument at work: tracks whose plans porch walks, and the questions that are asked of people."""
