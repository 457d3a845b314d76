"""The YAML file in which a person answers a gate: written, read, and mended together."""

from porch.plan.forms.form_complaints import render_with_complaints
from porch.plan.forms.form_fields import (
    MAX_BYTES,
    ChoiceKind,
    FlagKind,
    FormField,
    FormPart,
    FormParts,
    FormQuestion,
    GateForm,
    QuestionList,
    TextKind,
)
from porch.plan.forms.form_reader import (
    EmptiedForm,
    FilledForm,
    FormReading,
    UnfinishedForm,
    WrongForm,
    read_form,
)
from porch.plan.forms.form_template import extract_logs, render_form, render_logs_file

__all__ = [
    "MAX_BYTES",
    "ChoiceKind",
    "EmptiedForm",
    "FilledForm",
    "FlagKind",
    "FormField",
    "FormPart",
    "FormParts",
    "FormQuestion",
    "FormReading",
    "GateForm",
    "QuestionList",
    "TextKind",
    "UnfinishedForm",
    "WrongForm",
    "extract_logs",
    "read_form",
    "render_form",
    "render_logs_file",
    "render_with_complaints",
]
