"""The rules of a plan: the life of its prompts, and the run that keeps it."""
