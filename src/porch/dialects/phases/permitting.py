"""What agents may do, as a protocol says it; what nobody understands is told, not left out."""

from porch.dialects.fields import Fields
from porch.model.permissions import problems


def read_permissions(fields: Fields, key: str) -> tuple[str, ...]:
    texts = fields.list_of_text(key)
    fields.findings.extend(problems(texts, fields.place(key)))
    return texts
