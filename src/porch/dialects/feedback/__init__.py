"""The YAML file in which a person answers a gate: written, read, and mended together."""

from porch.dialects.feedback.explaining import explained
from porch.dialects.feedback.forms import (
    MAX_BYTES,
    Choice,
    Field,
    Flag,
    Form,
    Part,
    Parts,
    Question,
    Questions,
    Text,
)
from porch.dialects.feedback.logs import logs_of, logs_template
from porch.dialects.feedback.reading import Filled, Reading, Waiting, Wrong, read
from porch.dialects.feedback.writing import template

__all__ = [
    "MAX_BYTES",
    "Choice",
    "Field",
    "Filled",
    "Flag",
    "Form",
    "Part",
    "Parts",
    "Question",
    "Questions",
    "Reading",
    "Text",
    "Waiting",
    "Wrong",
    "explained",
    "logs_of",
    "logs_template",
    "read",
    "template",
]
