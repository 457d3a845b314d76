"""A person's own settings are at a whole path, whatever the variables say."""

import os
import pwd

import pytest

from porch.system.variables import find_config_home


def _account(home: str) -> pwd.struct_passwd:
    return pwd.struct_passwd(("ann", "x", 1, 1, "", home, "/bin/sh"))


def test_the_variables_name_the_directory_of_a_persons_settings() -> None:
    assert find_config_home({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}) == "/x"
    assert find_config_home({"XDG_CONFIG_HOME": "", "HOME": "/h"}) == "/h/.config"


def test_a_relative_directory_counts_as_none() -> None:
    assert find_config_home({"XDG_CONFIG_HOME": ".config", "HOME": "/h"}) == "/h/.config"


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "."}])
def test_without_a_home_it_is_that_of_the_account(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pwd, "getpwuid", lambda _: _account("/of/ann"))
    assert find_config_home(environ) == "/of/ann/.config"


def test_without_a_home_anywhere_nothing_can_lie_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pwd, "getpwuid", lambda _: _account(""))
    assert find_config_home({}) == os.path.join(os.devnull, ".config")

    def know_nobody(_: int) -> pwd.struct_passwd:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", know_nobody)
    assert find_config_home({}) == os.path.join(os.devnull, ".config")
