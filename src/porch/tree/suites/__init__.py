"""Running the project's own tests, and what their results prove."""
