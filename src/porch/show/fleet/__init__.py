"""Many runs as a table, one of them as a list of its phases, and lines on a project's health."""
