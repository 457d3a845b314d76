"""What decides a measurement: settings, protocols, check programs, what test runners read.

Whoever changes a file of these can turn red into green without a line of the work being right.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from porch.model.measuring_parts import has_measuring_part
from porch.model.path_globs import matches_any
from porch.text.late_pattern import late_pattern

# Nobody may write these in a run, whatever its protocol says: they govern other runs as well.
NEVER = (
    *("/codev/config.toml", "/codev/protocols/**", "/codev-skeleton/protocols/**"),
    *("/.claude/protocols/**", "/codev/.porch/**"),
)
# What a run of the tests leaves among them by itself.
MADE_BY_RUNS = ("__pycache__", "*.pyc", ".pytest_cache")
# In `may_write` and `protected`: whatever the runner of the run's checks calls a test, or reads.
TESTS, CONFIGURATION = "@tests", "@configuration"
WORDS = (TESTS, CONFIGURATION)


class Runner(Struct, frozen=True):
    """How a test runner is known in a command, what its tests are called, and what it reads."""

    name: str
    command: re.Pattern[str]
    tests: tuple[str, ...]
    configuration: tuple[str, ...] = ()


def _runner(name: str, command: str, tests: str, configuration: str = "") -> Runner:
    pattern = late_pattern(rf"(?:^|[\s;&|('\"/])(?:{command})(?=$|[\s;&|)'\"])")
    return Runner(name, pattern, tuple(tests.split()), tuple(configuration.split()))


RUNNERS: Mapping[str, Runner] = {
    runner.name: runner
    for runner in (
        _runner(
            "pytest",
            r"pytest|py\.test",
            "/tests/** /test/** test_*.py *_test.py",
            "conftest.py pytest.ini .pytest.ini pytest.toml .pytest.toml tox.ini setup.cfg"
            " pyproject.toml .coveragerc sitecustomize.py usercustomize.py *.pth",
        ),
        _runner(
            "unittest",
            # A file that is called as tests are is one, also if it is run by itself.
            r"-m\s+unittest|unittest|manage\.py\s+test|test_\w+\.py|\w+_test\.py",
            "/tests/** /test/** test_*.py *_test.py tests.py",
            "sitecustomize.py usercustomize.py *.pth",
        ),
        _runner(
            "jest",
            r"jest|vitest|(?:npm|yarn|pnpm|bun)(?:\s+run)?\s+test\S*",
            "__tests__ __mocks__ __snapshots__ *.test.* *.spec.* *.snap",
            "jest.config.* vitest.config.* vite.config.* jest.setup.* .babelrc babel.config.*"
            " package.json",
        ),
        _runner("go", r"go\s+test|gotestsum", "*_test.go testdata", "go.work"),
        _runner("cargo", r"cargo\s+(?:test|nextest)", "/tests/** **/tests/**", ".cargo build.rs"),
    )
}

_INTERPRETERS = late_pattern(
    r"(?:ba|da|z|k)?sh|\.|source|python[\d.]*|node|ruby|perl|php|deno|bun|tsx|env"
)
_ASSIGNMENT = late_pattern(r"\w+=\S*")
_BEFORE_COMMANDS = frozenset(
    ["exec", "time", "!", "{", "then", "do", "else", "elif", "if", "while", "until"]
)
# Programs whose work is told by a file that the command need not name.
_RECIPES: Mapping[str, tuple[str, ...]] = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile"),
    "tox": ("tox.ini",),
    "nox": ("noxfile.py",),
    "npm": ("package.json",),
    "yarn": ("package.json",),
    "pnpm": ("package.json",),
    "rake": ("Rakefile",),
    "task": ("Taskfile.yml",),
}


def looks_like_test(path: str) -> bool:
    """By its name alone: some runner would take it for a test, whatever a run's checks call."""
    globs = [glob for runner in RUNNERS.values() for glob in runner.tests]
    return matches_any(path, globs) and not matches_any(path, MADE_BY_RUNS)


def find_runners(commands: Iterable[str]) -> tuple[Runner, ...]:
    """The test runners that any of these shell texts calls."""
    texts = list(commands)
    return tuple(r for r in RUNNERS.values() if any(r.command.search(text) for text in texts))


def list_check_programs(commands: Iterable[str]) -> tuple[str, ...]:
    """The files that shell texts run, as far as they are written there; some lie elsewhere."""
    found = (name for text in commands for name in _programs_of_text(text))
    return tuple(dict.fromkeys(f"/{name.removeprefix('./')}" for name in found))


def _programs_of_text(text: str) -> Iterator[str]:
    for words in _split_commands(text):
        while words and (_ASSIGNMENT.fullmatch(words[0]) or words[0] in _BEFORE_COMMANDS):
            words.pop(0)
        if words:
            yield from _programs_of_words(words)


def _split_commands(text: str) -> Iterator[list[str]]:
    """The words of each simple command; what is quoted is one word, and what a shell would make
    of a variable is not known.
    """
    reader = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=True)
    reader.commenters, reader.whitespace_split = "", True
    words: list[str] = []
    try:
        for token in reader:
            if set(token) <= set("<>&") and token not in ("&", "&&"):
                # The next word is a file to read or write, and no program.
                next(reader, "")
            elif set(token) <= set("();|&"):
                yield words
                words = []
            else:
                words.append(token)
    except ValueError:
        # A quote that nobody closes; the shell will say so.
        return
    yield words


def _programs_of_words(words: list[str]) -> Iterator[str]:
    name = words[0].rpartition("/")[2]
    yield from _RECIPES.get(name, ())
    if _INTERPRETERS.fullmatch(name):
        plain = [word for word in words[1:] if not _ASSIGNMENT.fullmatch(word)]
        # Behind an option such as -c or -m stands no file.
        if plain and not plain[0].startswith("-"):
            yield from _own_path(plain[0])
    else:
        yield from _own_path(words[0])


def _own_path(word: str) -> Iterator[str]:
    is_plain = not word.startswith(("/", "~", "$", "..")) and "$" not in word
    if is_plain and ("/" in word or "." in word):
        yield word


class ProtectedPaths(Struct, frozen=True):
    """What one phase of one run may not write."""

    programs: tuple[str, ...]
    declared: tuple[str, ...]
    may_write: tuple[str, ...]
    tests: tuple[str, ...]
    configuration: tuple[str, ...]

    def is_protected(self, path: str) -> bool:
        if matches_any(path, MADE_BY_RUNS):
            return False
        whole = (*NEVER, *self.programs)
        return matches_any(path, whole) or self._is_meant(path, self.declared)

    def is_whole(self, path: str) -> bool:
        """Whether all of a file counts, not only the part that a test runner reads."""
        plain = [glob for glob in self.declared if glob not in WORDS]
        programs = self.programs if not has_measuring_part(path) else ()
        return matches_any(path, (*NEVER, *programs, *plain))

    def is_refused(self, path: str) -> bool:
        if matches_any(path, NEVER):
            return True
        return self.is_protected(path) and not self._is_meant(path, self.may_write)

    def _is_meant(self, path: str, globs: tuple[str, ...]) -> bool:
        """Whoever may write tests may not thereby write what decides how they come out."""
        if CONFIGURATION in globs and matches_any(path, self.configuration):
            return True
        if TESTS in globs and matches_any(path, self.tests):
            return not matches_any(path, self.configuration) or CONFIGURATION in globs
        return matches_any(path, [glob for glob in globs if glob not in WORDS])


def make_protected_paths(
    declared: tuple[str, ...], may_write: tuple[str, ...], commands: Iterable[str]
) -> ProtectedPaths:
    """With the globs of the runners and the programs that the commands of a run's checks name."""
    texts = list(commands)
    runners = find_runners(texts)
    return ProtectedPaths(
        list_check_programs(texts),
        declared,
        may_write,
        tuple(glob for runner in runners for glob in runner.tests),
        tuple(glob for runner in runners for glob in runner.configuration),
    )
