"""Repositories: every call of git that porch makes, bent by nothing that lies in them."""
