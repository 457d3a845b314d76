"""Many runs and whole projects: set-up, health, what the machine can do."""
