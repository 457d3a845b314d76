"""What happened in a run, what is going on, and what each answer would do; pure, derived once."""
