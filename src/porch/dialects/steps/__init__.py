"""The dialect of steps: numbered texts in YAML that extend each other; see implementation.yaml."""

from porch.dialects.steps.chain import Chain, Fetch, follow
from porch.dialects.steps.reader import recognises

__all__ = ["Chain", "Fetch", "follow", "recognises"]
