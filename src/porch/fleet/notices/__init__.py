"""Telling people that a run waits for them, has failed or is over."""
