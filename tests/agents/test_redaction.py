"""Redaction: no secret survives in any form, everything else stays as it was, JSON stays JSON."""

import io
import json
import os
import tempfile
import time
from base64 import b64encode, urlsafe_b64encode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.agents import anchor_sieve, redaction
from porch.agents.redaction import MASK, Redactor, find_secrets
from porch.system.growing_file import compact_file
from tests.torture import choose_some

SECRET = 'p"a\\ss/wörd\n12'
# Brackets are left out: with them a secret could be found in the mask itself.
WORDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="[]"), min_size=8, max_size=20
)
NASTY = st.text('ab\\"/nu0\n\u00e9\U0001f600', min_size=8, max_size=14)
SECRETS = st.one_of(WORDS, NASTY)
AROUND = st.text(st.sampled_from('\\"n /{}a0='), max_size=6)


def _json_forms(text: str) -> list[str]:
    once = [json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]]
    html = once[0].replace("/", "\\/").replace("<", "\\u003C").replace("+", "\\u002b")
    return [*once, html, *(json.dumps(each)[1:-1] for each in once)]


def _base64_forms(text: str) -> list[str]:
    data = text.encode()
    inside = [b"x" * before + data + b"y" * after for before in range(3) for after in range(3)]
    return [encode(each).decode() for each in inside for encode in (b64encode, urlsafe_b64encode)]


@given(SECRETS, AROUND, AROUND)
def test_no_form_of_a_secret_survives(secret: str, front: str, back: str) -> None:
    redactor = Redactor([secret])
    for form in (secret, *_json_forms(secret)):
        assert form not in redactor.text(f"{front}{form}{back}")
    for form in _base64_forms(secret):
        told = redactor.text(f"{front}{form}{back}")
        assert form not in told
        assert MASK in told


@given(SECRETS, st.lists(st.one_of(SECRETS, AROUND), max_size=4))
def test_a_line_of_json_stays_one_and_holds_no_secret(secret: str, texts: list[str]) -> None:
    event = {"type": "text", secret: [f"{text}{secret}{text}" for text in texts], "n": 12345678}
    for ascii_only in (True, False):
        line = json.dumps(event, ensure_ascii=ascii_only) + "\n"
        told = Redactor([secret, "12345678"]).line(line)
        assert told.endswith("\n")
        read = json.loads(told)
        assert secret not in told
        assert all(secret not in text for text in _strings(read))


def _strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in _strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in _strings(each)]
    return [value] if isinstance(value, str) else []


@given(st.text(max_size=300))
def test_a_text_without_secrets_is_the_same(text: str) -> None:
    secret = "correct-horse-battery"
    assert Redactor([secret]).text(text) == text


@given(st.binary(max_size=400))
def test_a_file_without_secrets_is_the_same_byte_for_byte(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "transcript.jsonl")
        path.write_bytes(data)
        before = path.stat().st_ino
        assert not Redactor(["correct-horse-battery"]).file(str(path))
        assert (path.read_bytes(), path.stat().st_ino) == (data, before)
        assert os.listdir(directory) == [path.name]


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-api03-Ab_cdefgh-ijkl",
        "sk-proj-abcdefghij0123456789",
        "sk-abcdefghij0123456789",
        "ghp_abcdefghij0123456789abcdefghij012345",
        "gho_abcdefghij0123456789abcdefghij012345",
        "github_pat_11ABCDEFG_abcdefghij0123456789",
        "AIzaSyA-abcdefghij0123456789_ABCDEFGHIJ",
        "xoxb-123456789012-abcdefghij",
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    ],
)
def test_tokens_are_known_by_their_shape_wherever_they_stand(text: str) -> None:
    redactor = Redactor([])
    for around in (
        "{}",
        "a {} b",
        '{{"key":"{}"}}',
        "x=\\n{}\\n",
        "\x1b[32m{}\x1b[0m",
        "\\u001b[1;31m{}",
    ):
        assert redactor.text(around.format(text)) == around.format(MASK)


@pytest.mark.parametrize(
    "text, told",
    [
        ("Authorization: Bearer abc123DEF456", f"Authorization: Bearer {MASK}"),
        (f"bearer {'x' * 40}.", f"bearer {MASK}"),
        ("https://ann:hunter2@example.org/x", f"https://{MASK}@example.org/x"),
        ("postgres://:pw@db", f"postgres://{MASK}@db"),
    ],
)
def test_what_stands_around_a_token_is_kept(text: str, told: str) -> None:
    assert Redactor([]).text(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "Bearer authentication is required by the task-force-of-the-second-hour",
        "see https://example.org/a@b, http://localhost:8080/x and ann@example.org",
        "-----BEGIN PUBLIC KEY-----\nabcd\n-----END PUBLIC KEY-----",
        "eyJhbGciOi is how they begin; sk-short is none",
        "a short one: hunter2",
    ],
)
def test_words_that_look_a_little_like_tokens_are_left_alone(text: str) -> None:
    assert Redactor(["hunter2"]).text(text) == text


KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIabc+/=\nxyz\n"
    "-----END RSA PRIVATE KEY-----"
)


@pytest.mark.parametrize("text", [KEY, json.dumps(KEY), json.dumps({"out": json.dumps(KEY)})])
def test_a_private_key_goes_from_its_first_line_to_its_last(text: str) -> None:
    told = Redactor([]).text(f"before {text} after")
    assert "MII" not in told
    assert "xyz" not in told
    assert "PRIVATE" not in told
    assert told.startswith("before ")
    assert told.endswith(" after")


def test_a_key_over_several_lines_of_a_plain_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "errors.txt"
    path.write_text(f"one\n{KEY}\ntwo\nsome\nlines\n")
    assert Redactor(["some\nlines"]).file(str(path))
    assert path.read_text() == f"one\n{MASK}\ntwo\n{MASK}\n"


@given(st.lists(st.sampled_from(["plain", SECRET, f"x {SECRET}", "_token", "half \ud800"])))
def test_many_texts_are_masked_as_each_of_them_would_be(texts: list[str]) -> None:
    redactor = Redactor([SECRET])
    assert list(redactor.texts(texts)) == [redactor.text(text) for text in texts]


lines = st.lists(
    st.sampled_from(
        [
            '{"usage": {"input_tokens": 7}}\n',
            '{"a": "sk-ant-api03-abcdefghij"}\n',
            "my_token=a1b2c3d4e5f6\n",
            f'{{"b": "{SECRET}"}}\n',
            "_token: none\n",
            "some words\n",
            "half of a line, correct-horse",
        ]
    )
)


@given(lines, st.integers(1, 60))
def test_a_file_is_masked_the_same_however_it_is_read(texts: list[str], size: int) -> None:
    """Whether anything matches is seen of a whole batch; small ones are looked at one by one."""
    redactor, data = Redactor([SECRET]), "".join(texts).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redaction, "_BATCH_BYTES", size)
        in_small_batches = redactor.data(data)
    assert redactor.data(data) == in_small_batches
    assert SECRET.encode() not in in_small_batches
    assert b"a1b2c3" not in in_small_batches
    assert b"sk-ant-api" not in in_small_batches


shaped = st.lists(
    st.sampled_from(
        [
            *('{"usage": {"input_tokens": 7}} ', '"api_key": "a1b2c3d4e5f6"', "npm_" + "a1" * 12),
            *("Bearer a1b2c3d4e5f6 ", "password=hunter2x ", "ghp_" + "a1" * 12, "AKIA" + "A1" * 8),
            *("?token=a1b2c3d4e5 ", "https://user:pa55word@host/ ", "some-task-name ", "Passwd: "),
            *(
                "s\\u0065cret-in-a-variable ",
                "secret-in-a-variable ",
                "\n",
                "{",
                "}",
                '"',
                "\\",
                "é",
            ),
        ]
    ),
    max_size=12,
)


@given(shaped, st.integers(1, 40), st.integers(1, 40))
def test_what_is_near_is_all_that_has_to_be_looked_for(
    texts: list[str], block: int, batch: int
) -> None:
    """A file is masked as if every form were tried everywhere, however it is cut up."""
    redactor, data = Redactor(["secret-in-a-variable"]), "".join(texts).encode()
    every = redactor._pieces(io.BytesIO(data), redactor._forms)
    slowly = "".join(piece for piece, _ in every).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redaction, "_BLOCK_BYTES", block)
        patch.setattr(redaction, "_BATCH_BYTES", batch)
        patch.setattr(anchor_sieve, "_SHORT_TEXT", -1)
        assert redactor.data(data) == slowly


def test_numbers_and_whole_objects_can_be_secrets_too() -> None:
    redactor = Redactor(["12345678", '{"a": 1}', "41abcdefg"])
    assert json.loads(redactor.line('{"n": 12345678, "m": 7}\n')) == {"n": MASK, "m": 7}
    assert redactor.line('{"deep": {"a": 1}}\n') == f'"{MASK}"\n'
    # It stands in the text of the line, but not in what the line says.
    assert json.loads(redactor.line('{"t": "\\u0041abcdefg"}')) == {"t": "Aabcdefg"}


@pytest.mark.parametrize("shift", range(0, 40, 3))
def test_a_secret_across_the_parts_that_are_read_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shift: int
) -> None:
    monkeypatch.setattr(redaction, "LONGEST_LINE", 64)
    monkeypatch.setattr(redaction, "_BATCH_BYTES", 128)
    monkeypatch.setattr(redaction, "_HELD_BACK", 32)
    path = tmp_path / "out"
    spelled = json.dumps(SECRET)[1:-1]
    path.write_text("".join(f"{'é' * (shift + n)}{spelled}\\\\{SECRET}" for n in range(60)))
    assert Redactor([SECRET]).file(str(path))
    assert path.read_text() == "".join(f"{'é' * (shift + n)}{MASK}{MASK}" for n in range(60))


def test_a_token_across_the_parts_that_are_read_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redaction, "_BATCH_BYTES", 100)
    path = tmp_path / "out"
    token = "sk-ant-api03-abcdefghij"
    whole = [f"{'x' * n} {token} y\n" for n in range(120)]
    path.write_text("".join(whole).replace("\n", ""))
    monkeypatch.setattr(redaction, "LONGEST_LINE", 70)
    assert Redactor([]).file(str(path))
    assert path.read_text() == "".join(whole).replace("\n", "").replace(token, MASK)


def test_every_line_of_a_file_stays_json(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_text('{"n": 12345678}\n{"n": 7}\n{"n": 123456789}')
    assert Redactor(["12345678"]).file(str(path))
    read = [json.loads(line) for line in path.read_text().split("\n")]
    assert read == [{"n": MASK}, {"n": 7}, {"n": MASK}]


def test_a_file_keeps_its_mode_and_leaves_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    event = {"type": "text", "text": f"it is {SECRET}"}
    path.write_text(json.dumps(event) + "\n" + "not json " + SECRET + "\n")
    path.chmod(0o640)
    (tmp_path / f"transcript.jsonl.redacted-{os.getpid()}").symlink_to(tmp_path / "elsewhere")
    assert Redactor([SECRET]).file(str(path))
    first, second = path.read_text().splitlines()
    assert json.loads(first) == {"type": "text", "text": f"it is {MASK}"}
    assert second == f"not json {MASK}"
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == [path.name]
    assert not Redactor([SECRET]).file(str(path))


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    redactor = Redactor([SECRET])
    assert not redactor.file(str(tmp_path / "missing"))
    os.mkfifo(tmp_path / "pipe")
    assert not redactor.file(str(tmp_path / "pipe"))
    (tmp_path / "target").write_text(SECRET)
    (tmp_path / "link").symlink_to(tmp_path / "target")
    assert not redactor.file(str(tmp_path / "link"))
    assert (tmp_path / "target").read_text() == SECRET


def test_redacted_first_a_file_can_be_compacted(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text(f"{SECRET}\n" * 2000)
    Redactor([SECRET]).file(str(path))
    assert compact_file(str(path), 500)
    assert set(path.read_text().splitlines()) >= {MASK}
    assert "rd" not in path.read_text()


def test_bytes_that_are_no_text_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"\xff\xfe" + SECRET.encode() + b"\xe2\x82")
    assert Redactor([SECRET]).file(str(path))
    assert path.read_bytes() == b"\xff\xfe" + MASK.encode() + b"\xe2\x82"


EVIL = {
    "prose": "the quick brown fox; ",
    "backslashes": "\\",
    "quotes": '\\"',
    "almost": "correct-horse-batter",
    "jwt": "eyJ",
    "coloured": "[0meyJ",
    "dotted": "eyJaaaaaaaa.",
    "key": "-----BEGIN PRIVATE KEY-----",
    "dashes": "-",
    "url": "://a:",
    "bearer": "Bearer ",
    "sk": "sk-",
    "escapes": "\\u0070",
    "json": '{"type":"text","text":"hello \\"there\\""}\n',
}


ANCHORS = "\nbegin secret another correct battery sk- gh github_pat_ AIza xox eyJ ://\n"
SIZES = {"prose": 10_000_000, "json": 10_000_000, "backslashes": 10_000_000}


@pytest.mark.torture
@pytest.mark.parametrize("name", choose_some(list(EVIL), 3))
def test_no_text_makes_it_slower_than_linear(tmp_path: Path, name: str) -> None:
    """Trying anew from every place would take minutes, not seconds."""
    path = tmp_path / "out"
    # Patterns are tried where their anchors are, so these are there.
    unit = EVIL[name] * (100_000 // len(EVIL[name])) + ANCHORS
    path.write_text(unit * (SIZES.get(name, 3_000_000) // len(unit)))
    began = time.monotonic()
    Redactor(["correct-horse-battery", SECRET, "\\begin{secret}", "another+secret/1"]).file(
        str(path)
    )
    assert time.monotonic() - began < 30


def test_values_count_as_secrets_by_the_names_of_their_variables() -> None:
    env = {
        "OPENAI_API_KEY": "sk-one-two-three",
        "my_token": " padded-value\n",
        "DB_PASSWORD": "short",
        "AWS_SECRET_X": "secret-value",
        "X_CREDENTIALS": "/a/path/to/it",
        "PATH": "/usr/bin:/bin",
    }
    found = find_secrets(env)
    assert set(found) == {
        "sk-one-two-three",
        " padded-value\n",
        "padded-value",
        "secret-value",
        "/a/path/to/it",
    }
    assert find_secrets(env, ["P*"]) == ("/usr/bin:/bin",)


@pytest.mark.parametrize(
    "text",
    [
        "password=hunter2x",
        "DB_PASSWORD=Tr0ub4dor&3",
        "passwd: hunter22",
        'api_key = "abcdefghijkl"',
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        '"SecretAccessKey": "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"',
        "Authorization: Basic dXNlcjpwYXNz",
        "authorization: token abc123def456",
        "https://host/x?token=abcdefgh1234&y=1",
        "https://host/x?X-Amz-Signature=abcdef0123456789",
        "https://hooks.slack.com/services/T000/B000/XXXXXXXXXXXXXXXX",
        "client_secret: 'swordfish'",
        '{"password": "swordfish"}',
        r"{\"password\": \"swordfish\"}",
        "export API_KEY=abc123456",
        "https://abcdefghij0123456789x@host.example/a",
        "PGPASSWORD=swordfish",
        "mysql --password=swordfish",
        "user=me&password=swordfish&x=1",
        "glpat-abcdefghij_1234567890",
        "npm_abcdefghij1234567890abcdefghij123456",
        "sk_live_abcdefghij1234567890",
        "hf_abcdefghijklmnopqrstuvwxyzabcdefgh",
        "SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz",
    ],
)
def test_v14_a_value_behind_the_name_of_a_secret_is_hidden(text: str) -> None:
    told = Redactor(()).text(f"before {text} after")
    assert MASK in told
    assert told.startswith("before ")
    assert told.endswith(" after")
    for value in ("hunter2", "Tr0ub4dor", "&3", "abcdefghij", "wJalr", "dXNl", "abc123", "XXXX"):
        assert value not in told
    assert "swordfish" not in told
    as_json = json.dumps({"said": text})
    assert isinstance(json.loads(Redactor(()).line(as_json)), dict)


@pytest.mark.parametrize(
    "text",
    [
        "the password: it must be long",
        "password=password",
        "connect(password=args.password)",
        "password = None",
        "password: string",
        '"password": "string", "required": ["password"]',
        "password=$PASSWORD",
        "password=${DB_PASSWORD}",
        "password: at least 8 characters",
        "Passwords: none found",
        "secret: tell nobody",
        "api_key=settings.api_key",
        "password=os.environ['X']",
        "max_tokens: 4096",
        "Authorization: required",
        "test_password_is_checked passed",
        "password=...",
        "password: <your password>",
        'secret = ""',
        "next_token: null",
        "https://example.org/a?page=2",
        "password_length=123456",
        "connect(password=password_of(user))",
        "login(user=user, password=typed)",
        "password=old_password",
        "npm_package_config_user_agent and hf_hub_download_with_retries stay",
        "the package pypi-publish",
    ],
)
def test_v14_prose_and_code_about_passwords_stay(text: str) -> None:
    assert Redactor(()).text(text) == text
