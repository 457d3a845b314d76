"""Settings that a person of a test trusts, as `porch trust` would grant them."""

import os
import pwd
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from porch.errors import PorchError
from porch.run.grants import add_grant
from porch.run.settings import read_written_settings, user_directory

_OWN = os.path.join(pwd.getpwuid(os.getuid()).pw_dir, ".config")


def trust_settings(root: Path, environ: Mapping[str, str] = os.environ) -> None:
    """Trust everything that both files ask for; what cannot be read asks for nothing."""
    own = user_directory(environ)
    assert not own.startswith(_OWN), "this would change the settings of whoever runs the tests"
    with suppress(PorchError):
        for each in read_written_settings(str(root), own).requests:
            add_grant(own, each.digest, each.file, "ann")
