"""What agents may do, as a protocol says it; what nobody understands is told, not left out."""

from porch.model.permissions import check_permissions
from porch.text.fields import Fields


def read_permissions(fields: Fields, key: str) -> tuple[str, ...]:
    texts = fields.list_of_text(key)
    fields.findings.extend(check_permissions(texts, fields.place(key)))
    return texts
