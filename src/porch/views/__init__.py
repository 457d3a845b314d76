"""Pure pictures of a state and of what agents said."""
