"""Typed answers of agents: where one is looked for, what form it has, and what it has to hold."""
