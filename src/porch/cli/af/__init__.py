"""The commands of `af`: many runs at once, each driven by a process of its own."""
