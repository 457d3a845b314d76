"""What a person sets once: the project's file over their own, checked like a protocol."""

import json
import os
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from porch.agents import AGENTS
from porch.errors import (
    DefinitionError,
    Finding,
    OutsideError,
    Place,
    Severity,
    errors_in,
    suggest_name,
)
from porch.run.setting_keys import (
    COMMANDS_USED,
    COUNT,
    KEYS,
    NAME,
    PERMISSIONS,
    PRICES,
    SECONDS,
    SECONDS_OR_OFF,
    TEXT,
    TEXTS,
    VOUCH,
    SettingKey,
    ValueKind,
)
from porch.run.trust_requests import AskingSetting, TrustRequest, make_trust_request
from porch.system.regular_file import open_followed
from porch.system.variables import find_config_home
from porch.text.late_pattern import late_pattern

PROJECT_FILE = "codev/config.toml"
USER_FILE = "config.toml"
DEFAULT = "default"
_SHORT = 12
_LONGEST_NUMBER = 12
AGENT_KIND = ValueKind(
    f"one of {', '.join(AGENTS)}",
    lambda value: isinstance(value, str) and value in AGENTS,
    "claude",
)
_POST: Mapping[str, SettingKey] = {
    "agent": SettingKey("", TEXT),
    "model": SettingKey("", TEXT),
    "timeout": SettingKey("", SECONDS),
    "idle": SettingKey("", SECONDS_OR_OFF),
    "permissions": SettingKey("", PERMISSIONS, needs_trust=True),
    "max_steps": SettingKey("", COUNT),
}
# Tables of tables: what may stand below [agents.NAME], [roles.NAME] and [phases.NAME].
TABLES: Mapping[str, Mapping[str, SettingKey]] = {
    "agents": {
        "kind": SettingKey("", AGENT_KIND),
        "command": SettingKey("", TEXTS, needs_trust=True),
        "model": SettingKey("", TEXT),
        "env": SettingKey("", TEXTS, only_user=True, needs_trust=True),
        "usd_per_million": SettingKey("", PRICES),
    },
    "roles": _POST,
    "phases": {
        **_POST,
        **{key.partition(".")[2]: KEYS[key] for key in KEYS if key.startswith("budget.")},
    },
}
# Keys that would be read and not obeyed.
UNHEARD: Mapping[str, str] = {
    "roles.reviewer.agent": "set the reviewers with [panel] models",
    "roles.reviewer.permissions": "reviewers can only read",
}
SECTIONS = ("commands", *TABLES, *dict.fromkeys(key.partition(".")[0] for key in KEYS))


class Settings(Struct, frozen=True):
    """The values that hold; `origin` says which file and line set each.

    `requests` are the settings that need a person's trust. Those that are not trusted are left out.
    """

    commands: Mapping[str, str] = field(default_factory=dict)
    claude_timeout: float = 600
    consultation_timeout: float = 300
    gate_poll_interval: float = 30
    max_gate_wait: float = 86400
    idle: float = 0
    check: float = 600
    first_check: float = 600
    protocol: str = "spider"
    agent: str = "claude"
    trusted: bool = False
    max_running: int = 4
    back_off: float = 1.0
    models: tuple[str, ...] = ()
    fix_issues: bool = False
    coalesce: str = "off"
    unattended: str = "park"
    nonce: bool = False
    max_usd: float = 0
    max_tokens: float = 0
    max_turns: float = 0
    max_minutes: float = 0
    agents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    roles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    phases: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    knowledge_paths: tuple[str, ...] = ()
    review_agents: tuple[str, ...] = ()
    review_rounds: int = 5
    notify_desktop: bool = False
    notify_webhook: str = ""
    notify_command: tuple[str, ...] = ()
    pull_request_protocols: tuple[str, ...] = ("bugfix",)
    max_runs: int = 4
    repositories: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    copy: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    share_readers: bool = False
    check_env: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Finding, ...] = ()
    requests: tuple[TrustRequest, ...] = ()

    @property
    def untrusted(self) -> tuple[TrustRequest, ...]:
        """The settings that wait for a person; none of them counts."""
        return tuple(each for each in self.requests if not each.is_trusted)

    def origin(self, key: str) -> str:
        """`default`, or the file and line that set it; keys are written `timeouts.check`."""
        return self.origins.get(key, DEFAULT)

    def rows(self) -> list[tuple[str, str, str]]:
        """Key, value and where it comes from, for people."""
        named = [(f"commands.{name}", text) for name, text in self.commands.items()]
        known = [(key, getattr(self, each.attribute)) for key, each in KEYS.items()]
        named += [
            (f"{section}.{name}.{key}", value)
            for section in TABLES
            for name, table in getattr(self, section).items()
            for key, value in table.items()
        ]
        return [(key, _format_value(value), self.origin(key)) for key, value in (*named, *known)]


def user_directory(environ: Mapping[str, str]) -> str:
    """Where a person's own settings lie."""
    return os.path.join(find_config_home(environ), "porch")


def load_settings(
    project_root: str,
    user_dir: str | None = None,
    trust: Collection[str] = (),
    commit: str = "",
) -> Settings:
    """The settings that hold here; raises DefinitionError with everything wrong in both files.

    What needs a person's trust counts if the person has granted it, or `trust` has its digest.
    With a commit, the project's file is the one that it has.
    """
    files = _read_files(project_root, user_dir, commit)
    written = _read_settings(*files)
    if not written.requests:
        return written
    from porch.run.grants import read_grants  # few settings need it

    grants = read_grants(os.path.dirname(files[0]))
    requests = tuple(
        replace(each, is_trusted=True)
        if each.digest in grants.digests or each.digest in trust
        else replace(each, note=grants.explain(each.digest))
        for each in written.requests
    )
    untrusted = frozenset(each.digest for each in requests if not each.is_trusted)
    known = _read_settings(*files, untrusted=untrusted) if untrusted else written
    return replace(known, requests=requests)


def read_written_settings(
    project_root: str, user_dir: str | None = None, commit: str = ""
) -> Settings:
    """What the files say, trusted or not: to show or compare, never to act on."""
    return _read_settings(*_read_files(project_root, user_dir, commit))


def _read_files(
    project_root: str, user_dir: str | None, commit: str
) -> tuple[str, bytes, str, bytes]:
    """Name and content of both files; one in a commit has a name of its own if it differs."""
    path, project_path = list_settings_files(project_root, user_dir)
    ours, name = _read_bytes(project_path), PROJECT_FILE
    if commit and (committed := _read_committed(project_root, commit)) != ours:
        ours, name = committed, f"{PROJECT_FILE} in commit {commit[:_SHORT]}"
    return path, _read_bytes(path), name, ours


def is_same_in_commit(project_root: str, commit: str) -> bool:
    """Whether the project's file lies in the checkout as the commit has it."""
    here = _read_bytes(list_settings_files(project_root)[1])
    return _read_committed(project_root, commit) == here


def _read_committed(project_root: str, commit: str) -> bytes:
    from porch.git.repository import read_committed_file  # only a start asks for it

    return read_committed_file(project_root, commit, PROJECT_FILE)


def load_own_settings() -> Settings:
    """What a person's own file says by itself, wherever they are."""
    path, _ = list_settings_files("")
    return _read_settings(path, _read_bytes(path), PROJECT_FILE, b"")


def list_settings_files(project_root: str, user_dir: str | None = None) -> tuple[str, str]:
    """The person's own file and the project's; either may be missing."""
    own = user_directory(os.environ) if user_dir is None else user_dir
    return os.path.join(own, USER_FILE), os.path.join(project_root, PROJECT_FILE)


# A start asks many times, and the same bytes mean the same.
@lru_cache(maxsize=8)
def _read_settings(
    path: str, mine: bytes, name: str, ours: bytes, untrusted: frozenset[str] = frozenset()
) -> Settings:
    files = [
        _SettingsFile(path, mine, is_project=False),
        _SettingsFile(name, ours, is_project=True),
    ]
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    requests: list[TrustRequest] = []
    for file in files:
        pairs = list(file.values())
        asking = [AskingSetting(k, v, file.place(k)) for k, v in pairs if v and _needs_trust(k)]
        request = make_trust_request(asking)
        requests += [request] if request else []
        is_trusted = request is None or request.digest not in untrusted
        for key, value in pairs:
            if is_trusted or not _needs_trust(key):
                values[key] = value
                origins[key] = f"{file.name}:{file.place(key).line}"
    findings = [finding for file in files for finding in file.findings]
    if errors_in(findings):
        raise DefinitionError(findings)
    return replace(make_settings(values, origins, tuple(findings)), requests=tuple(requests))


def _needs_trust(key: str) -> bool:
    section, _, rest = key.partition(".")
    if section in TABLES:
        return TABLES[section][rest.rpartition(".")[2]].needs_trust
    return key in KEYS and KEYS[key].needs_trust


def make_settings(
    values: Mapping[str, Any], origins: Mapping[str, str], notes: tuple[Finding, ...]
) -> Settings:
    """Settings out of values by their keys."""
    front = "commands."
    commands = {key[len(front) :]: text for key, text in values.items() if key.startswith(front)}
    set_: dict[str, Any] = {
        KEYS[key].attribute: _freeze_list(values[key]) for key in values if key in KEYS
    }
    set_ |= {section: _collect_tables(values, section) for section in TABLES}
    return Settings(commands=commands, origins=origins, notes=notes, **set_)


def _collect_tables(values: Mapping[str, Any], section: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        front, _, rest = key.partition(".")
        name, _, field_ = rest.rpartition(".")
        if front == section:
            found.setdefault(name, {})[field_] = _freeze_list(value)
    return found


def _freeze_list(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _format_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read_bytes(path: str) -> bytes:
    try:
        with open(path, "rb", opener=open_followed) as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        fix = "make the file readable, or remove it"
        raise OutsideError(f"the settings {path} cannot be read: {error.strerror}", fix) from error


_HEADER = late_pattern(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_ASSIGNED = late_pattern(r"\s*((?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'|\s*\.\s*)+?)\s*=")
_TOML_PLACE = late_pattern(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class _SettingsFile:
    """One settings file: what it sets, and everything that is wrong with it."""

    def __init__(self, name: str, data: bytes, is_project: bool):
        self.name = name
        self.is_project = is_project
        self.findings: list[Finding] = []
        self._text = ""
        self._tables = self._parsed(data)
        self._lines = dict(reversed(list(_iterate_assignments(self._text))))

    def _parsed(self, data: bytes) -> dict[str, Any]:
        if not data:
            return {}
        import tomllib

        try:
            self._text = data.decode("utf-8-sig")
            return tomllib.loads(self._text)
        except UnicodeDecodeError:
            self._report("not-text", "the file is not UTF-8", Place(self.name), "save it as UTF-8")
        except tomllib.TOMLDecodeError as error:
            found = _TOML_PLACE.search(str(error))
            at = (int(found[1]), int(found[2])) if found and found[1] else (0, 0)
            message = _TOML_PLACE.sub("", str(error))
            fix = (
                "fix this line" if at[0] else "look at the end of the file: something is not closed"
            )
            self._report("toml-syntax", message, Place(self.name, *at), fix)
        except RecursionError:
            self._report("toml-syntax", "the file is nested too deeply", Place(self.name))
        return {}

    def _report(
        self, code: str, message: str, place: Place, fix: str = "", severity: Severity = "error"
    ) -> None:
        self.findings.append(Finding(code, message, place, fix, severity))

    def place(self, key: str) -> Place:
        """Where a key is set, else its section; tomllib itself remembers no lines."""
        line = self._lines.get(key) or self._lines.get(key.partition(".")[0]) or 1
        return Place(self.name, line, 1)

    def values(self) -> Iterator[tuple[str, Any]]:
        for section, table in self._tables.items():
            if section not in SECTIONS:
                self._unknown(section, section, SECTIONS, "the settings")
            elif not isinstance(table, dict):
                fix = f"write a line [{section}], and below it one line for each of its keys"
                self._wrong(section, section, "a table", table, fix)
            elif section in TABLES:
                yield from self._table(section, table)
            else:
                for name, value in table.items():
                    yield from self._value(section, name, value)

    def _table(self, section: str, tables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        for name, table in tables.items():
            if not isinstance(table, dict) or not NAME.fullmatch(name):
                fix = f"write a line [{section}.NAME], and below it one line for each key"
                self._wrong(f"{section}.{name}", name, f"a table [{section}.NAME]", table, fix)
                continue
            for key, value in table.items():
                yield from self._entry(section, name, key, value)
            if "command" in table and not _takes_command(table.get("kind", "command")):
                full = f"{section}.{name}.command"
                said = f"'{full}': only an agent of kind 'command' can have a command"
                self._report("bad-agent", said, self.place(full), "remove kind, or remove command")

    def _entry(self, section: str, name: str, key: str, value: Any) -> Iterator[tuple[str, Any]]:
        known, full = TABLES[section].get(key), f"{section}.{name}.{key}"
        if known is None:
            self._unknown(full, key, list(TABLES[section]), f"[{section}.{name}]")
        elif not known.kind.fits(value):
            self._wrong(full, key, known.kind.words, value, _suggest_line(key, known.kind, value))
        elif full in UNHEARD:
            self._report(
                "no-meaning", f"'{full}': {UNHEARD[full]}", self.place(full), "", "warning"
            )
        elif known.only_user and self.is_project:
            self._report("no-meaning", f"'{full}': {VOUCH}", self.place(full), "", "warning")
        else:
            yield full, value

    def _value(self, section: str, name: str, value: Any) -> Iterator[tuple[str, Any]]:
        key = f"{section}.{name}"
        known = SettingKey("", TEXT) if section == "commands" else KEYS.get(key)
        if known is None:
            names = [each.partition(".")[2] for each in KEYS if each.startswith(f"{section}.")]
            self._unknown(key, name, names, f"[{section}]")
        elif not known.kind.fits(value):
            self._wrong(key, name, known.kind.words, value, _suggest_line(name, known.kind, value))
        elif known.only_user and self.is_project:
            self._report("no-meaning", f"'{key}': {VOUCH}", self.place(key), "", "warning")
        else:
            if section == "commands":
                self._mistyped(key, name)
            yield key, value

    def _mistyped(self, key: str, name: str) -> None:
        """A protocol may ask for a command of any name; a near miss is worth a word."""
        near = suggest_name(name, COMMANDS_USED)
        if near and name not in COMMANDS_USED:
            said = f"'{name}' is not a command that the packaged protocols use"
            self._report("unknown-key", said, self.place(key), near.strip(), "note")

    def _unknown(self, key: str, name: str, known: Any, what: str) -> None:
        from difflib import get_close_matches

        near = get_close_matches(name, known, n=1)
        fix = f"did you mean '{near[0]}'?" if near else f"known keys: {', '.join(known)}"
        self._report("unknown-key", f"'{name}' is not a known key of {what}", self.place(key), fix)

    def _wrong(self, key: str, name: str, wanted: str, value: Any, fix: str) -> None:
        message = f"'{name}' must be {wanted}, not {value!r}"
        self._report("wrong-type", message, self.place(key), fix)


def _suggest_line(name: str, kind: ValueKind, value: Any) -> str:
    """The line with what was meant if it only lacks quotes or brackets, else with an example."""
    import json  # what it writes is also TOML, for all that can stand here

    text = str(value)
    candidates: list[Any] = [text, [value], {"true": True, "false": False}.get(text.lower())]
    candidates += [int(text)] if text.isdecimal() and len(text) < _LONGEST_NUMBER else []
    is_one = not isinstance(value, (list, dict))
    meant = [each for each in candidates if is_one and kind.fits(each)]
    line = f"`{name} = {json.dumps(meant[0] if meant else kind.example, ensure_ascii=False)}`"
    return f"write {line}" if meant else f"write, for example, {line}"


def _takes_command(kind: object) -> bool:
    return isinstance(kind, str) and kind in AGENTS and AGENTS[kind].NEEDS_COMMAND


def _iterate_assignments(text: str) -> Iterator[tuple[str, int]]:
    """Every key and section header with its line, as far as a look at single lines can tell."""
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        header, assigned = _HEADER.match(line), _ASSIGNED.match(line)
        if header:
            table = _key_path(header[1])
            yield table, number
        elif assigned:
            yield (f"{table}.{_key_path(assigned[1])}" if table else _key_path(assigned[1])), number


def _key_path(written: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in written.split("."))
