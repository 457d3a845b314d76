"""What people and agents type: one row for each command, one module that it loads."""
