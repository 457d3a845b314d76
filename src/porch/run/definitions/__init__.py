"""Protocols by name: found, read whole, listed, drawn, and given their inputs."""
