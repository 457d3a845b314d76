"""What people and agents ask of a run: start, decide, steer, repair, look."""
