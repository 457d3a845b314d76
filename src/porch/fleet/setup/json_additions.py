"""Taking out of a JSON document what was added to it; whatever somebody changed since stays."""

from typing import Any


def strip_additions(now: Any, before: Any, after: Any) -> Any:
    """`now` without what `after` has more than `before`.

    What was added as a list, or as an object of objects, goes when nothing is left in it. An item
    of a list, or an object with plain values, is one thing: if it is another one by now, it is
    somebody's own.
    """
    if isinstance(now, list) and isinstance(after, list):
        added = [each for each in after if each not in (before or ())]
        return [each for each in now if each not in added]
    if not (isinstance(now, dict) and isinstance(after, dict)):
        return now
    kept, old = dict(now), before or {}
    for key in (key for key in after if key in now):
        if key in old:
            kept[key] = strip_additions(now[key], old[key], after[key])
        elif now[key] == after[key]:
            del kept[key]
        elif not _is_one_thing(after[key]):
            kept[key] = strip_additions(now[key], None, after[key])
            if not kept[key]:
                del kept[key]
    return kept


def _is_one_thing(value: Any) -> bool:
    if isinstance(value, dict):
        return not all(isinstance(each, (dict, list)) for each in value.values())
    return not isinstance(value, list)
