"""Attempts to get programs started, or to see more, by writing settings."""

import json
from collections.abc import Callable

from porch.run.settings import read_written_settings
from tests.whole.attacks.attack import Agent, Attack, Seen
from tests.whole.attacks.environment_attacks import TOKEN
from tests.whole.attacks.site import Site

CODE = "untrusted-settings"
OWN = "$HOME/.config/porch"


def start_another_run(site: Site) -> str:
    """What a person sees who starts the next run, with a token in the environment."""
    shown = {"command": f"env > {site.base}/shown.txt", "max_retries": 0}
    phase = {"id": "build", "checks": {"own": shown}}
    site.prepare(phase, agents={"build": [{}]})
    return site.start(SERVICE_TOKEN=TOKEN).all


def is_started(site: Site) -> bool:
    return (site.base / "started").exists()


def add_set_up(site: Site) -> Seen:
    line = f'setup = ["touch {site.base}/started"]'
    site.inside(f"printf '%s\\n' '[worktree]' '{line}' >> codev/config.toml")
    said = start_another_run(site)
    return Seen(is_started(site), "command" if CODE in said else "")


def ask_for_all_variables(site: Site) -> Seen:
    site.inside("printf '%s\\n' '[checks]' 'env = [\"*\"]' >> codev/config.toml")
    said = start_another_run(site)
    path = site.base / "shown.txt"
    is_seen = path.exists() and TOKEN in path.read_text()
    return Seen(is_seen, "command" if CODE in said else "")


def notify(site: Site) -> str:
    """The shell text that writes a command into the person's own settings."""
    line = f'command = ["touch", "{site.base}/started"]'
    return f"mkdir -p {OWN}; printf '%s\\n' '[notify]' '{line}' >> {OWN}/config.toml"


def set_notice_command(site: Site) -> Seen:
    site.inside(notify(site))
    said = site.porch("resume", "1").all
    return Seen(is_started(site), "command" if CODE in said else "")


def grant_it_too(site: Site) -> Seen:
    """It writes what `porch trust` would have written."""
    known = f'[notify]\ncommand = ["touch", "{site.base}/started"]\n'
    (site.base / "config.toml").write_text(known)
    (request,) = read_written_settings(str(site.root), str(site.base)).requests
    line = "\\t".join((request.digest, "2026-01-01T00:00:00Z", "ann", "config.toml", ""))
    site.inside(f"{notify(site)}; umask 077; printf '{line}\\n' >> {OWN}/trust")
    said = site.porch("resume", "1").all
    return Seen(is_started(site), "command" if "appeared while an agent" in said else "")


def grant_it_by_a_test(site: Site) -> Seen:
    """The turn is over when a check runs the test that the agent wrote."""
    known = f'[notify]\ncommand = ["touch", "{site.base}/started"]\n'
    (site.base / "config.toml").write_text(known)
    (request,) = read_written_settings(str(site.root), str(site.base)).requests
    line = "\\t".join((request.digest, "2026-01-01T00:00:00Z", "ann", "config.toml", ""))
    site.by_test(f"{notify(site)}; umask 077; printf '{line}\\n' >> {OWN}/trust")
    said = site.porch("resume", "1").all
    return Seen(is_started(site), "command" if "appeared while an agent" in said else "")


def call_trust(site: Site) -> Seen:
    site.inside(
        f"{notify(site)}; porch trust; porch trust $(porch trust --json | grep -o [0-9a-f]*)"
    )
    said = site.porch("trust", "--list", "--json").out
    return Seen(bool(json.loads(said)["grants"]), "command" if "not-a-person" in site.said else "")


def row(
    id: str, agent: Agent, tries: str, attempt: Callable[[Site], Seen], prepared: str = ""
) -> Attack:
    return Attack(
        id=id,
        group="trust",
        agent=agent,
        tries=tries,
        result="prevented",
        where="command",
        prepared=prepared,
        attempt=attempt,
    )


TRUST_ATTACKS = (
    row(
        "S-X2b",
        "careless",
        "writes a set-up command into the settings of the project, for the next run",
        add_set_up,
    ),
    row(
        "S-X4",
        "careless",
        "writes into the settings that checks get all variables of the person",
        ask_for_all_variables,
    ),
    row(
        "S-X6",
        "curious",
        "writes a command for notices into the person's own settings",
        set_notice_command,
        "at_gate",
    ),
    row(
        "S-X6b",
        "curious",
        "the same, and calls `porch trust` for it",
        call_trust,
        "at_gate",
    ),
    row(
        "S-X6c",
        "malicious",
        "the same, and writes the grant by itself during its turn",
        grant_it_too,
        "at_gate",
    ),
    row(
        "S-X6d",
        "malicious",
        "the same, in a test that a check runs",
        grant_it_by_a_test,
        "at_gate",
    ),
)
