"""Q2: `{{> name}}` in a prompt is the text of a partial, pinned with the prompt."""

import json
import os
from pathlib import Path

import pytest

from porch.errors import Finding
from porch.run.definitions import library
from porch.run.definitions.definition_texts import PACKAGED_PARTIALS


def protocol(directory: Path, prompt: str, **partials: str) -> Path:
    """One phase with this prompt; the partials lie beside it."""
    inside = directory / "prompts" / "partials"
    inside.mkdir(parents=True, exist_ok=True)
    (directory / "prompts" / "a.md").write_text(prompt)
    for name, text in partials.items():
        (inside / f"{name}.md").write_text(text)
    path = directory / "protocol.json"
    path.write_text(json.dumps({"name": "p", "phases": [{"id": "a", "prompt": "a.md"}]}))
    return path


def findings(path: Path) -> list[Finding]:
    return [f for f in library.load_protocol(str(path)).findings if f.severity == "error"]


def prompt_of(path: Path) -> str:
    return library.load_protocol(str(path)).demand().prompts["a"]


def test_q2_a_partial_stands_where_its_tag_stood(tmp_path: Path) -> None:
    path = protocol(
        tmp_path,
        "# Do\n\n{{> rules}}\n\nThen {{> end.md}}.\n",
        rules="Be kind to {{ title }}.\n\n{{>end}}\n",
        end="stop\n",
    )
    assert prompt_of(path) == "# Do\n\nBe kind to {{ title }}.\n\nstop\n\nThen stop.\n"
    loaded = library.load_protocol(str(path))
    names = [os.path.relpath(file, tmp_path) for file in loaded.files]
    assert names == ["protocol.json"] + [
        f"prompts/{name}.md" for name in ("a", "partials/rules", "partials/end")
    ]


def test_q2_a_partial_belongs_to_the_definition_that_is_pinned(tmp_path: Path) -> None:
    path = protocol(tmp_path, "{{> rules}}\n", rules="one\n")
    before = library.load_protocol(str(path)).digest
    protocol(tmp_path, "{{> rules}}\n", rules="two\n")
    assert library.load_protocol(str(path)).digest != before


def test_q2_a_packaged_partial_is_there_for_every_protocol(tmp_path: Path) -> None:
    packaged = (Path(PACKAGED_PARTIALS) / "issue.md").read_text()
    assert prompt_of(protocol(tmp_path / "a", "{{> issue}}\n")) == packaged
    assert prompt_of(protocol(tmp_path / "b", "{{> issue}}\n", issue="own\n")) == "own\n"


@pytest.mark.parametrize(
    "tag, code, words",
    [
        ("{{> gone}}", "missing-partial", "there is no partial 'gone'"),
        ("{{> ../a}}", "missing-partial", "'../a' is not the name of a partial"),
        ("{{> /etc/passwd}}", "missing-partial", "is not the name of a partial"),
        ("{{> rules colour=red}}", "missing-partial", "without parameters"),
        ("{{> link}}", "missing-partial", "there is no partial 'link'"),
        ("{{> loop}}", "endless-partial", "loop.md -> back.md -> loop.md"),
        ("{{> many}}", "too-many", "more than 200 partials"),
    ],
)
def test_q2_a_tag_without_a_text_is_an_error_with_its_place(
    tmp_path: Path, tag: str, code: str, words: str
) -> None:
    (tmp_path / "secret.md").write_text("secret\n")
    home = tmp_path / "p"
    path = protocol(
        home,
        f"# Do\n\nfirst {tag}\n",
        rules="one\n",
        loop="{{> back}}\n",
        back="{{> loop}}\n",
        many="{{> rules}}" * 201,
    )
    (home / "prompts/partials/link.md").symlink_to(tmp_path / "secret.md")
    (finding,) = findings(path)
    assert finding.code == code
    assert words in f"{finding.message} {finding.fix}"
    file, line, column = str(finding.place).rsplit(":", 2)
    if code == "missing-partial":
        assert (os.path.relpath(file, home), line, column) == ("prompts/a.md", "3", "7")


def test_q2_what_is_wrong_in_a_partial_is_found_in_its_own_file(tmp_path: Path) -> None:
    path = protocol(tmp_path, "{{> rules}}\n\n{{ titel }}\n", rules="\n  {{ plan_phase_id }}\n")
    found = {os.path.relpath(str(f.place), tmp_path): f.code for f in findings(path)}
    assert found == {
        "prompts/a.md:3:4": "unknown-variable",
        "prompts/partials/rules.md:2:6": "unknown-variable",
    }


def test_q2_partials_that_are_right_alone_and_wrong_together_are_found(tmp_path: Path) -> None:
    path = protocol(tmp_path, "{{ '{{> said}}' }}\n", said="it's {{ title }}\n")
    (finding,) = findings(path)
    assert (finding.code, str(finding.place)) == (
        "template-syntax",
        f"{tmp_path}/prompts/a.md:1:1",
    )


def test_q2_a_prompt_with_its_partials_does_not_grow_without_end(tmp_path: Path) -> None:
    path = protocol(tmp_path, "{{> long}}" * 3, long="x" * 1_000_000)
    (finding,) = findings(path)
    assert finding.code == "document-too-large"
    assert "with its partials" in finding.message
    assert str(finding.place).endswith("prompts/a.md:1:21")
