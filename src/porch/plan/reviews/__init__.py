"""Reviews of prompts and plans by other agents: bounded, read-only, fail closed."""
