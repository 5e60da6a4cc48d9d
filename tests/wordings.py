"""Sentences for users, each once, in readable files: ``python -m tests.wordings`` writes them again.

A test uses the fixture `wording` and passes it a message, or the block that raises it, with the facts that the test
knows:

    with wording.raises(LookupError, name="V100"):
        figures("V100")

Each fact must be in the message, as a word of its own, and the file has its name instead: "there are no figures for
'{name}'". The rest of the message is compared with the file of the test's folder in `tests/wordings/`. All cases of a
function share one wording; what differs between them must be a fact. So kinds, places and numbers are in the test,
and words are in the file. To improve a sentence, edit the package, run the command, and read what git shows.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = Path(__file__).with_name("wordings")
SAME = "= "  # what stands where another test has the same wording, before its name

Key = tuple[str, str]  # a test file, and the function in it; with the number of the message where it has several


class Changed(AssertionError):
    """A message is not worded as its file has it."""


def template(text: str, facts: Mapping[str, object]) -> str:
    """The wording without the facts.

    Raises:
        AssertionError: a fact is not in the text.
    """
    for name, value in sorted(facts.items(), key=lambda each: -len(str(each[1]))):
        text, found = re.subn(rf"(?<!\w){re.escape(str(value))}(?!\w)", lambda _, name=name: f"{{{name}}}", text)
        assert found, f"{name} ({value}) is not in: {text}"
    return text


def line_of(text: str, *parts: str) -> str:
    """The only line of a text that has all ``parts``, without the space around it."""
    found = [line.strip() for line in text.splitlines() if all(part in line for part in parts)]
    assert len(found) == 1, f"{len(found)} lines have {parts}:\n{text}"
    return found[0]


class Wordings:
    """The wordings of all tests, by their keys; or of those that have run, while they are written."""

    def __init__(self, known: Mapping[Key, str]) -> None:
        self.known = dict(known)

    @classmethod
    def load(cls, folder: Path = FOLDER) -> Wordings:
        found: dict[Key, str] = {}
        for path in sorted(folder.glob("*.txt")):
            found |= _parsed(path.read_text(encoding="utf-8").splitlines())
        for key, text in found.items():
            if text.startswith(SAME):
                file, _, name = text.removeprefix(SAME).partition(" :: ")
                found[key] = found[file, name]
        return cls(found)

    def save(self, folder: Path = FOLDER) -> None:
        """One file for each folder of tests; none where no test has a wording."""
        folder.mkdir(exist_ok=True)
        lines: dict[str, list[str]] = {}
        first: dict[str, Key] = {}
        last = ""
        for (file, name), text in sorted(self.known.items()):
            part = lines.setdefault(_part(file), [])
            if file != last:
                part += ["", f"# {file}"] if part else [f"# {file}"]
                last = file
            other = first.setdefault(text, (file, name))
            told = text if other == (file, name) else f"{SAME}{other[0]} :: {other[1]}"
            part += [name, *(f"  {line}".rstrip() for line in told.split("\n"))]
        for part, some in lines.items():
            (folder / f"{part}.txt").write_text("\n".join(some) + "\n", encoding="utf-8")
        for path in folder.glob("*.txt"):
            if path.stem not in lines:
                path.unlink()

    def check(self, key: Key, text: str) -> None:
        """Raises `Changed` where the wording is another, or not known."""
        before = self.known.get(key)
        if before != text:
            was = f"- {before}\n" if before is not None else ""
            raise Changed(f"{was}+ {text}\npython -m tests.wordings {key[0]} writes it anew: read what git shows")

    def add(self, key: Key, text: str) -> None:
        """Raises ValueError where another case of the same function had another wording."""
        if self.known.setdefault(key, text) != text:
            raise ValueError(f"two cases differ, so what differs is a fact:\n{self.known[key]}\n{text}")


def _part(file: str) -> str:
    """The file for the tests of a room; those beside the rooms share one."""
    parts = Path(file).parts
    return parts[1] if len(parts) > 2 else "tests"


def _parsed(lines: Iterable[str]) -> dict[Key, str]:
    found: dict[Key, list[str]] = {}
    file, key = "", ("", "")
    for line in lines:
        if line.startswith("# "):
            file = line.removeprefix("# ")
        elif line and not line.startswith(" "):
            found[key := (file, line)] = []
        elif key in found:
            found[key].append(line[2:])
    # An empty line stands before the next file.
    return {key: "\n".join(text).rstrip("\n") for key, text in found.items()}


_known: Wordings | None = None
_written: Wordings | None = None


class Wording:
    """What a test's messages say; see the module."""

    def __init__(self, test: str) -> None:
        self._file, _, self._name = test.partition("[")[0].partition("::")
        self._seen = 0

    def __call__(self, message: object, label: str = "", /, **facts: object) -> None:
        """Compare a message. A ``label`` tells the wordings of a function apart, for cases that have one each; without
        any they are numbered."""
        global _known
        self._seen += 1
        label = label or (str(self._seen) if self._seen > 1 else "")
        key = (self._file, f"{self._name} {label}".rstrip())
        text = "\n".join(line.rstrip() for line in template(str(message), facts).strip("\n").split("\n"))
        if _written is not None:
            _written.add(key, text)
            return
        _known = _known or Wordings.load()
        _known.check(key, text)

    @contextmanager
    def raises(
        self, kind: type[BaseException] | tuple[type[BaseException], ...], label: str = "", /, **facts: object
    ) -> Iterator[pytest.ExceptionInfo[BaseException]]:
        """Expect an exception of a ``kind``, and compare its message."""
        with pytest.raises(kind) as caught:
            yield caught
        self(caught.value, label, **facts)


@pytest.fixture
def wording(request: pytest.FixtureRequest) -> Wording:
    return Wording(request.node.nodeid)


class _Functions:
    """Which functions of which files were run."""

    def __init__(self) -> None:
        self.run: set[Key] = set()

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        file, _, name = item.nodeid.partition("[")[0].partition("::")
        self.run.add((file, name))


def users() -> list[str]:
    """The files of tests that hand messages over."""
    files = (path for path in sorted((ROOT / "tests").rglob("test_*.py")) if path.name != "test_wordings.py")
    return [path.relative_to(ROOT).as_posix() for path in files if "wording: Wording" in path.read_text("utf-8")]


def main(arguments: list[str]) -> int:
    """Run tests, of these files or of all that have wordings, and write what their messages say.

    ``FILE::FUNCTION`` runs one function, and leaves the other wordings of its file as they are.
    """
    global _written
    _written = Wordings({})
    functions = _Functions()
    code = int(pytest.main(["-q", "--no-header", *(arguments or users())], plugins=[functions]))
    if code:
        print("Nothing was written, as not all tests passed.")
        return code
    before = Wordings.load()
    parts = {argument.partition("::")[0] for argument in arguments if "::" in argument}
    replaced = {(file, name if file in parts else "") for file, name in functions.run}
    kept = {
        (file, name): text
        for (file, name), text in before.known.items()
        if replaced.isdisjoint({(file, ""), (file, name.partition(" ")[0])}) and (ROOT / file).exists()
    }
    after = Wordings({**kept, **_written.known})
    after.save()
    for key in sorted({*before.known, *after.known}):
        if before.known.get(key) != after.known.get(key):
            print(f"{key[0]}::{key[1]}: has changed")
    print(f"{len(after.known):,} wordings, {len(set(after.known.values())):,} of them different")
    return 0


if __name__ == "__main__":
    from tests import wordings  # the module that tests import, and not this one

    sys.exit(wordings.main(sys.argv[1:]))
