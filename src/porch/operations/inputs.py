"""Inputs of a run: checked before it begins, and its name where nothing else names it."""

import hashlib
import json
import re
from dataclasses import replace

from porch.adapters.library import Loaded
from porch.errors import DefinitionError
from porch.model import parameters
from porch.operations.asking import Wanted

_LONGEST = 40
_DIGITS = 8


def named(loaded: Loaded, wanted: Wanted) -> Wanted:
    """Without a subject, equal inputs mean the same run, and others another one."""
    if loaded.parameters is None or wanted.subject:
        return wanted
    given = dict(wanted.inputs or {})
    told = "-".join(given[each.name] for each in loaded.parameters if each.name in given)
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", told).strip("-_")
    if slug == told and 0 < len(slug) <= _LONGEST:
        return replace(wanted, subject=slug)
    whole = json.dumps(given, sort_keys=True, ensure_ascii=False)
    mark = hashlib.sha256(whole.encode()).hexdigest()[:_DIGITS]
    return replace(wanted, subject=f"{slug[:_LONGEST].strip('-_')}-{mark}".lstrip("-"))


def demand(loaded: Loaded, wanted: Wanted) -> None:
    """Everything that is wrong with what was given, before anything is written."""
    if loaded.parameters is not None:
        wrong = parameters.problems(loaded.parameters, wanted.inputs or {})
        if wrong:
            raise DefinitionError(wrong)
