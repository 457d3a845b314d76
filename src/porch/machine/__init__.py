"""The machine: facts in, moves out; pure functions over frozen values."""
