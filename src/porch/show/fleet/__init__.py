"""Many runs as a table, and one of them as a list of its phases."""
