"""What of a person's environment reaches an agent, by the agent and by what it is set to use."""

import pytest

from porch.agents import claude, codex, command, gemini
from porch.agents.environment import (
    list_dropped_variables,
    list_passed_variables,
    make_agent_environment,
    scrub_environment,
)
from porch.agents.redaction import Redactor, find_secrets

NETWORK = {
    "HTTPS_PROXY": "http://proxy.example:8080",
    "https_proxy": "http://proxy.example:8080",
    "NO_PROXY": "localhost",
    "NODE_EXTRA_CA_CERTS": "/etc/ca.pem",
    "SSL_CERT_FILE": "/etc/ca.pem",
    "XDG_CACHE_HOME": "/cache",
}
CLOUD = {"AWS_REGION": "eu-west-1", "AWS_PROFILE": "work"}
NEVER = {
    "NODE_OPTIONS": "--require /evil.js",
    "LD_PRELOAD": "/evil.so",
    "GIT_DIR": "/else",
    "SSH_AUTH_SOCK": "/sock",
    "CLAUDECODE": "1",
    "NODE_TLS_REJECT_UNAUTHORIZED": "0",
    "GH_TOKEN": "t",
}
TRACING = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost", "TRACEPARENT": "00-1-2-01"}


@pytest.mark.parametrize("agent", [claude, codex, gemini, command])
def test_q6_every_agent_reaches_the_network_as_its_person_does(agent: object) -> None:
    passed = make_agent_environment(NETWORK | NEVER | TRACING, agent.CREDENTIALS)  # type: ignore[attr-defined]
    assert passed == NETWORK


def test_checks_get_no_more_of_the_environment_than_before() -> None:
    assert scrub_environment(NETWORK | CLOUD | {"PATH": "p"}) == {"PATH": "p"}


@pytest.mark.parametrize("switch", ["", "0", "false", "1"])
def test_q6_a_cloud_is_passed_only_where_the_agent_is_set_to_use_it(switch: str) -> None:
    environ = CLOUD | {"CLAUDE_CODE_USE_BEDROCK": switch}
    passed = make_agent_environment(environ, claude.CREDENTIALS)
    assert ("AWS_REGION" in passed) == (switch == "1")
    assert "AWS_REGION" not in make_agent_environment(environ, codex.CREDENTIALS)


def test_q6_vertex_brings_its_region_and_project() -> None:
    environ = {
        "CLAUDE_CODE_USE_VERTEX": "1",
        "CLOUD_ML_REGION": "us-east5",
        "GOOGLE_CLOUD_PROJECT": "shop",
    }
    assert make_agent_environment(environ, claude.CREDENTIALS) == environ


def test_tracing_is_passed_only_where_the_settings_ask_for_it() -> None:
    asked = make_agent_environment(TRACING, claude.CREDENTIALS, ("OTEL_*", "TRACEPARENT"))
    assert asked == TRACING


def test_the_names_of_what_passes_and_of_what_is_dropped_are_known() -> None:
    environ = {"PATH": "p", "EDITOR": "vi", **NETWORK, **CLOUD, **TRACING, "OPENAI_API_KEY": "k"}
    passed = make_agent_environment(environ, claude.CREDENTIALS)
    assert list_passed_variables(environ, passed) == sorted(NETWORK)
    dropped = list_dropped_variables(environ, passed)
    assert dropped == sorted([*CLOUD, *TRACING, "OPENAI_API_KEY"])


def test_the_password_of_a_proxy_is_a_secret_also_where_it_stands_alone() -> None:
    environ = {"HTTPS_PROXY": "http://ann:opensesame@proxy.example:8080"}
    told = Redactor(find_secrets(environ)).text("it is opensesame, at proxy.example:8080")
    assert told == "it is [redacted], at proxy.example:8080"
