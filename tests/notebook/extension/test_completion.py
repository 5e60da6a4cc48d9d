"""What is offered to those who write kernels, and what a name is said to be."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl
from IPython.core.interactiveshell import InteractiveShell

from triton_lab.notebook.cell.magic_options import COMPILED_FOR, FLAGS, TARGETS, VIEWS, UsageError, parse
from triton_lab.notebook.extension import completion, triton_language

NOTEBOOK = {"tl": tl, "triton": triton, "x": 1}


def offered(code: str, namespace: dict[str, Any] = NOTEBOOK) -> dict[str, str]:
    """What stands for ``|`` in the cell, by what it is."""
    before, after = code.split("|")
    lines = before.split("\n")
    fragment, items = completion.completions(before + after, len(lines) - 1, lines[-1], namespace)
    assert before.endswith(fragment)
    return dict(items)


def test_names_of_the_language_are_offered_as_what_they_are() -> None:
    names = offered("tl.|")
    assert set(names) == set(tl.__all__)
    assert names["load"] == names["sum"] == "function" and names["float16"] == "dtype"
    assert names["constexpr"] == names["tensor"] == "class" and names["math"] == "module"
    assert set(offered("y = tl.atomic_a|")) == {"atomic_add", "atomic_and"}
    assert "exp2" in offered("tl.math.ex|") and "next_power_of_2" in offered("triton.next|")


def test_the_cell_s_own_imports_count_before_they_have_run() -> None:
    assert "load" in offered("import triton.language as ttl\nttl.lo|", {})
    assert "load" in offered("from triton import language\nlanguage.lo|", {})
    assert "load" in offered("%%triton\nimport torch, triton, triton.language as tl\ntl.lo|", {})
    assert offered("tl.lo|", {}) == offered("x.lo|") == offered("import triton.nonsense as tl\ntl.lo|", {}) == {}


def test_the_magic_line_s_options_are_offered_and_can_be_parsed() -> None:
    assert set(offered("%%triton |\nf[1](x)")) == {*TARGETS, *(flag.names[0] for flag in FLAGS)}
    assert set(offered("%%triton cpu --|")) == {flag.names[0] for flag in FLAGS}
    assert set(offered("%%triton --show |")) == set(offered("%%triton --show=|")) == set(VIEWS)
    assert set(offered("%%triton --show grid,ti|")) == {"tiling", "timeline"}
    assert set(offered("%%triton --compile sm_90 --show c|")) == {"compiled", "cost"}
    assert set(offered("%%triton gpu --compile s|")) == {name for name in COMPILED_FOR if name.startswith("s")}
    assert offered("x = 1\n%%triton |") == offered("%%tritonic |") == {}
    for line in ("cpu", "--show grid", "--compile sm_90", "both --limit 3"):
        *words, last = line.split(" ")
        assert last.isdigit() or last in offered(f"%%triton {' '.join(words)} |".replace("  ", " "))
    with pytest.raises(UsageError):
        parse("--shwo grid")


@pytest.mark.parametrize(
    "line", ["%%triton --show ", "%%triton --show=", "%%triton --show grid,", "%%triton --show pyp"]
)
def test_the_shell_offers_views_alone(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file, no magic and no name of the session stands among the views."""
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    shell = InteractiveShell.instance()
    try:
        completion.offer(shell)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # IPython's word for an interface that may change
            found = {one.text for one in shell.Completer.completions(line, len(line))}
    finally:
        completion.withdraw(shell)
        InteractiveShell.clear_instance()
    expected = {
        name for name in VIEWS if name.startswith(line.rpartition(" ")[2].rpartition(",")[2].rpartition("=")[2])
    }
    assert found == (expected - {"grid"} if "grid" in line else expected or set(VIEWS))


def test_annotations_and_dtypes_are_offered_by_the_name_that_the_language_has() -> None:
    assert offered("@triton.jit\ndef f(x_ptr, n, BLOCK: |") == {"tl.constexpr": "class"}
    assert offered("@triton.jit\ndef f(\n    x_ptr,\n    BLOCK: con|") == {"tl.constexpr": "class"}
    assert offered("def f(n):\n    g(x, y: |") == offered("{a: |") == {}
    assert "tl.float32" in offered("z = tl.zeros((4,), dtype=|") and "tl.bfloat16" in offered("x.to(bf|")


def test_parameters_are_offered_that_a_caller_can_pass() -> None:
    assert offered("tl.load(x_ptr + at, ma|") == {"mask=": "param"}
    assert offered("tl.load(x_ptr + at, mask=at < n, o|") == {"other=": "param"}
    assert offered("tl.load(p, _|") == {}
    assert offered("tl.sum(tl.load(p), ax|") == {"axis=": "param"}


@pytest.mark.parametrize("name", [name for name in tl.__all__ if callable(getattr(tl, name))])
def test_every_function_is_described_without_what_the_compiler_fills(name: str) -> None:
    value = getattr(tl, name)
    told = triton_language.described(f"tl.{name}", value)
    if told is None:  # a class or function of another package
        assert not getattr(value, "__module__", "").startswith("triton.language")
        return
    assert "_semantic" not in told.signature and "_builder" not in told.signature
    assert ":code:" not in told.text and ":param" not in told.text and ".. " not in told.text


def test_a_description_has_the_signature_and_what_each_parameter_is() -> None:
    load = triton_language.described("tl.load", tl.load)
    assert load is not None and load.signature.startswith("tl.load(pointer, mask=None, other=None")
    assert "- mask: if `mask[idx]` is false, do not load" in load.text
    total = triton_language.described("tl.sum", tl.sum)
    assert total is not None and total.signature.startswith("tl.sum(input, axis")
    assert triton_language.described("tl.float16", tl.float16) == triton_language.NameDescription(
        "tl.float16", "dtype", "", "dtype fp16, 16 bits"
    )
    assert triton_language.described("sorted", sorted) is None and triton_language.described("x", 3) is None


@pytest.fixture
def shell() -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine = InteractiveShell()
    before = list(mine.Completer.custom_matchers)
    mine.user_ns["tl"] = tl
    completion.offer(mine)
    completion.offer(mine)  # as `%load_ext` does after the start-up file
    yield mine
    completion.withdraw(mine)
    assert mine.Completer.custom_matchers == before and not mine.inspector.mime_hooks


def test_ipython_offers_and_tells_it(shell: Any) -> None:
    from IPython.core.completer import provisionalcompleter

    with provisionalcompleter():
        found = list(shell.Completer.completions("y = tl.loa", 10))
        line = list(shell.Completer.completions("%%triton c", 10))
    assert [(one.text, one.type) for one in found] == [("load", "function"), ("load_tensor_descriptor", "function")]
    assert [(one.text, one.start) for one in line] == [("cpu", 9)]
    told = shell.object_inspect_mime("tl.load")
    assert "tl.load(pointer, mask=None" in told["text/plain"] and "_semantic" not in told["text/plain"]
    assert inspect.cleandoc(tl.load.__doc__).splitlines()[0] in told["text/plain"]
    assert told[completion.DESCRIPTION]["kind"] == "function"
    assert completion.DESCRIPTION not in shell.object_inspect_mime("sorted")


def test_nothing_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys; from triton_lab.notebook.extension import completion as completing\n"
        "assert completing.completions('tl.', 0, 'tl.', {}) == ('', [])\n"
        "assert completing.completions('%%triton c', 0, '%%triton c', {})[1] == [('cpu', 'target')]\n"
        "assert {'numpy', 'torch', 'triton'}.isdisjoint(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_dtypes_are_offered_by_any_beginning_with_and_without_the_name_of_the_language() -> None:
    assert "tl.float32" in offered("x.to(t|") and "tl.float32" in offered("x.to(float3|")
    assert "tl.float16" not in offered("x.to(float3|")


def test_a_module_is_known_by_the_name_that_an_import_gives_it() -> None:
    assert triton_language.modules("import triton.language", {})["triton"].__name__ == "triton"
    assert triton_language.modules("import triton.language as t", {})["t"].__name__ == "triton.language"
    assert triton_language.modules("from triton import language as l", {})["l"].__name__ == "triton.language"
