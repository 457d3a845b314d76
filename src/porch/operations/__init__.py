"""The verbs, once: what every surface calls, in the user's words."""
