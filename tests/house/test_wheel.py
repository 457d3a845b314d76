"""What a user installs is the wheel, not our checkout; so that is what runs here."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGED = ("spider", "change", "tick", "bugfix")

# One worker, so that the wheel is built once.
pytestmark = pytest.mark.xdist_group("wheel")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    built = subprocess.run([*command, str(ROOT)], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return next(out.glob("porch-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked by pip beside nothing of ours; dependencies stay where they are."""
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet"]
    command += ["--disable-pip-version-check", "--target", str(target), str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def porch(installed: Path, elsewhere: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The installed script, from a directory in which no source of ours can be found."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(elsewhere),
        # The editable install of our checkout is also in site-packages; this comes before it.
        "PYTHONPATH": os.pathsep.join([str(installed), sysconfig.get_paths()["purelib"]]),
    }
    return subprocess.run(
        [sys.executable, str(installed / "bin" / "porch"), *arguments],
        cwd=elsewhere,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def names_in(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.req("P-036")
@pytest.mark.parametrize("protocol", PACKAGED)
def test_the_wheel_holds_the_files_of_each_packaged_protocol(wheel: Path, protocol: str) -> None:
    home = f"porch/protocols/{protocol}/"
    inside = {name.removeprefix(home) for name in names_in(wheel) if name.startswith(home)}
    assert {"protocol.json", "protocol.md"} <= inside
    assert any(name.startswith("prompts/") and name.endswith(".md") for name in inside)


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    package = ROOT / "src" / "porch"
    ours = {
        f"porch/{file.relative_to(package)}"
        for file in package.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert ours - names_in(wheel) == set()


def test_the_wheel_holds_nothing_but_the_package_and_its_metadata(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in names_in(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"porch"}


def test_the_installed_code_is_the_wheel_and_not_the_checkout(
    installed: Path, tmp_path: Path
) -> None:
    where = subprocess.run(
        [sys.executable, "-c", "import porch; print(porch.__file__)"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(installed), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert where.stdout.strip() == str(installed / "porch" / "__init__.py")


@pytest.mark.req("P-001")
def test_the_installed_command_shows_its_help(installed: Path, tmp_path: Path) -> None:
    shown = porch(installed, tmp_path, "--help")
    assert shown.returncode == 0, shown.stderr
    assert "porch" in shown.stdout


def test_the_installed_command_lists_the_packaged_protocols(
    installed: Path, tmp_path: Path
) -> None:
    listed = porch(installed, tmp_path, "protocols", "list")
    assert listed.returncode == 0, listed.stderr
    for protocol in PACKAGED:
        assert protocol in listed.stdout
