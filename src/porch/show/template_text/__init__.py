"""Filling in templates: plain ones without a library, others within limits."""
