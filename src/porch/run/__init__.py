"""The shell of the kernel: drives a run, asks people, and gives every verb of a run."""
