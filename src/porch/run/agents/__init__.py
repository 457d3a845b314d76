"""Turns of agents: who takes one, on what terms, and what it used."""
