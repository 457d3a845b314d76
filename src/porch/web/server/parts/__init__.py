"""The parts of a run that have a page of their own, beside its overview and its work."""
