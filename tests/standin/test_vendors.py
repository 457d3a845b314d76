"""The stand-in by itself: what no command line asks, and that it always comes to an end."""

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.real_agents import find_cli
from tests.standin.request import Request
from tests.standin.steps import Step, answer, call, hang, refusal, say, status, tries
from tests.standin.vendors import Vendors, standing_in

PATHS = {
    "anthropic": "/v1/messages",
    "openai": "/v1/responses",
    "google": "/v1beta/models/any:generateContent",
}


def asking(vendor: str, *texts: str) -> dict[str, Any]:
    """The body of a plain request with these texts of a person in its history."""
    if vendor == "google":
        return {"contents": [{"role": "user", "parts": [{"text": text}]} for text in texts]}
    said = [{"role": "user", "content": text} for text in texts]
    return {"model": "any", "messages" if vendor == "anthropic" else "input": said}


def post(vendors: Vendors, path: str, body: Any) -> Any:
    request = urllib.request.Request(vendors.url + path, json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=20) as said:
        return json.load(said)


def texts(value: Any) -> list[str]:
    """Everything in an answer that is called text, wherever the vendor puts it."""
    if isinstance(value, list):
        return [text for each in value for text in texts(each)]
    if not isinstance(value, dict):
        return []
    own = [value["text"]] if isinstance(value.get("text"), str) else []
    return own + [text for each in value.values() for text in texts(each)]


each = pytest.mark.parametrize("name", PATHS)


@each
def test_a_plain_request_gets_the_whole_answer_at_once(name: str, vendor: Vendors) -> None:
    vendor.script("hello", say("good day"))
    said = post(vendor, PATHS[name], asking(name, "hello"))
    assert texts(said) == ["good day"]
    assert vendor.requests[0].vendor == name


@each
def test_a_further_prompt_moves_the_script_on_and_its_end_is_repeated(
    name: str, vendor: Vendors
) -> None:
    vendor.script("hello", say("one"), say("two"))
    given = [("hello",), ("hello", "more"), ("hello", "more", "and more")]
    said = [texts(post(vendor, PATHS[name], asking(name, *prompts))) for prompts in given]
    assert said == [["one"], ["two"], ["two"]]


def test_the_key_that_was_said_last_counts(vendor: Vendors) -> None:
    vendor.script("tea", say("tea it is"))
    vendor.script("coffee", say("coffee it is"))
    said = post(vendor, PATHS["openai"], asking("openai", "tea", "no, coffee"))
    assert texts(said) == ["coffee it is"]


def test_the_same_request_can_be_answered_differently_each_time(vendor: Vendors) -> None:
    vendor.script("again", tries(status(429, retry_after="3"), say("now")))
    body = asking("anthropic", "again")
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(vendor, PATHS["anthropic"], body)
    with refused.value as error:
        assert (error.code, error.headers["retry-after"]) == (429, "3")
    assert [texts(post(vendor, PATHS["anthropic"], body)) for _ in range(2)] == [["now"], ["now"]]


def test_without_a_script_a_function_decides(vendor: Vendors) -> None:
    def decide(request: Request) -> Step:
        return say(f"{request.vendor} was asked {request.prompt}")

    vendor.default = decide
    said = post(vendor, PATHS["google"], asking("google", "why"))
    assert texts(said) == ["google was asked why"]


def test_a_schema_of_geminis_own_is_filled_in_without_a_script(vendor: Vendors) -> None:
    form = {"type": "OBJECT", "properties": {"model": {"type": "STRING", "enum": ["flash"]}}}
    body = {**asking("google", "route"), "generationConfig": {"responseJsonSchema": form}}
    said = post(vendor, PATHS["google"], body)
    assert texts(said) == ['{"model": "flash"}']
    assert vendor.asked() == []


def test_each_vendor_refuses_and_calls_in_its_own_words(vendor: Vendors) -> None:
    vendor.script("evil", refusal())
    vendor.script("tool", call("any", {"a": 1}))
    vendor.script("form", answer({"exit": "Good"}))

    def said(name: str, word: str) -> str:
        return json.dumps(post(vendor, PATHS[name], asking(name, word)))

    assert [word in said(name, "evil") for name, word in REFUSED.items()] == [True] * 3
    assert [word in said(name, "tool") for name, word in CALLED.items()] == [True] * 3
    assert all('{\\"exit\\": \\"Good\\"}' in said(name, "form") for name in PATHS)


REFUSED = {"anthropic": '"stop_reason": "refusal"', "openai": '"refusal"', "google": '"SAFETY"'}
CALLED = {"anthropic": '"tool_use"', "openai": '"function_call"', "google": '"functionCall"'}


def test_tokens_are_counted_and_other_paths_are_unknown(vendor: Vendors) -> None:
    assert post(vendor, "/v1/messages/count_tokens", {}) == {"input_tokens": 100}
    assert post(vendor, "/v1beta/models/any:countTokens", {}) == {"totalTokens": 100}
    with pytest.raises(urllib.error.HTTPError) as unknown:
        post(vendor, "/v1/elsewhere", {})
    with unknown.value as error:
        assert error.code == 404


@pytest.mark.parametrize("where", ["start", "middle", "end"])
def test_it_ends_although_a_stream_hangs(where: Any) -> None:
    before = threading.active_count()
    with standing_in() as vendors:
        vendors.script("hang", hang(where))
        asked = json.dumps({**asking("anthropic", "hang"), "stream": True}).encode()
        head = f"POST /v1/messages HTTP/1.1\r\ncontent-length: {len(asked)}\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", vendors.port)) as left_open:
            left_open.sendall(head + asked)
            vendors.wait(1, "hang")
            began = time.monotonic()
            vendors.stop()
    assert time.monotonic() - began < 2
    assert threading.active_count() == before


def test_a_missing_agent_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("PORCH_AGENTS_DIR", str(tmp_path))
    monkeypatch.setenv("PORCH_REQUIRE", "")
    with pytest.raises(pytest.skip.Exception, match="make agents"):
        find_cli("codex")
    monkeypatch.setenv("PORCH_REQUIRE", "chromium,agents")
    with pytest.raises(pytest.fail.Exception, match="make agents"):
        find_cli("codex")
