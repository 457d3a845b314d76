"""What a person asks of a run: how it is typed, where its text comes from, which id it gets."""
