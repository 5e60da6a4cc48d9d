"""Kernels of a notebook follow what they use: a changed helper, global or closure constant is compiled in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import triton.language as tl
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from tests.caches.test_kernels import BODY, define, filled
from tests.wordings import Wording, line_of

Run = Callable[[str], Any]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs a cell in a shell of its own and returns what `out` holds after it."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.run_cell("import torch, triton, triton.language as tl\nout = torch.zeros(16)\n%load_ext triton_lab")

    def cell(text: str) -> Any:
        shell.run_cell(text).raise_error()
        return shell.user_ns["out"].tolist()

    yield cell
    shell.extension_manager.unload_extension("triton_lab")
    InteractiveShell.clear_instance()


KERNEL = """%%triton cpu --show none
@triton.jit
def kernel(out):
    i = tl.arange(0, 16)
    tl.store(out + i, {value})

kernel[(1,)](out)
"""
AGAIN = "%%triton cpu --show none\nkernel[(1,)](out)\n"


@pytest.mark.parametrize("again", ["kernel[(1,)](out)", AGAIN], ids=["plain cell", "%%triton cell"])
@pytest.mark.parametrize(
    ("value", "before", "after"),
    [
        ("SCALE", "SCALE = tl.constexpr(2)", "SCALE = tl.constexpr(5)"),
        ("helper(2)", "@triton.jit\ndef helper(x):\n    return x", "@triton.jit\ndef helper(x):\n    return x + 3"),
        (
            "outer(2)",
            "@triton.jit\ndef inner(x):\n    return x\n\n@triton.jit\ndef outer(x):\n    return inner(x)",
            "@triton.jit\ndef inner(x):\n    return x + 3",
        ),
        (
            "helper(2)",
            "OFFSET = tl.constexpr(0)\n@triton.jit\ndef helper(x):\n    return x + OFFSET",
            "OFFSET = tl.constexpr(3)",
        ),
        ("tl.full((16,), 3.75, tl.float32).to(DTYPE) * 4 - 10", "DTYPE = tl.int32", "DTYPE = tl.float32"),
        (
            "helper(2)",
            "@triton.constexpr_function\ndef helper(x):\n    return x",
            "@triton.constexpr_function\ndef helper(x):\n    return x + 3",
        ),
        (
            "settings.SCALE",
            "import types\nsettings = types.ModuleType('settings')\nsettings.SCALE = tl.constexpr(2)",
            "settings.SCALE = tl.constexpr(5)",
        ),
        (
            "helpers.helper(2)",
            "import types\nhelpers = types.ModuleType('helpers')\n"
            "@triton.jit\ndef f(x):\n    return x\nhelpers.helper = f",
            "@triton.jit\ndef f(x):\n    return x + 3\nhelpers.helper = f",
        ),
    ],
    ids=[
        "global",
        "helper",
        "helper's helper",
        "helper's global",
        "dtype",
        "constexpr function",
        "module's constant",
        "module's helper",
    ],
)
def test_what_a_kernel_uses_is_followed(run: Run, value: str, before: str, after: str, again: str) -> None:
    run(before)
    assert run(KERNEL.format(value=value)) == [2.0] * 16
    run(after)
    assert run(again) == [5.0] * 16


def test_a_closure_constant_is_followed(run: Run) -> None:
    run(
        "%%triton cpu --show none\n"
        "def make():\n"
        "    scale = tl.constexpr(2)\n"
        "    @triton.jit\n"
        "    def kernel(out):\n"
        "        i = tl.arange(0, 16)\n"
        "        tl.store(out + i, scale)\n"
        "    def change(value):\n"
        "        nonlocal scale\n"
        "        scale = tl.constexpr(value)\n"
        "    return kernel, change\n"
        "kernel, change = make()\n"
        "kernel[(1,)](out)\n"
    )
    assert run(AGAIN) == [2.0] * 16
    run("change(5)")
    assert run(AGAIN) == [5.0] * 16


def test_a_kernel_under_an_autotuner_is_followed(run: Run) -> None:
    run("SCALE = tl.constexpr(2)")
    tuned = KERNEL.format(value="SCALE").replace(
        "@triton.jit", "@triton.autotune([triton.Config({})], key=[])\n@triton.jit"
    )
    assert run(tuned) == [2.0] * 16
    run("SCALE = tl.constexpr(5)")
    assert run(AGAIN) == [5.0] * 16


def test_the_last_definition_of_a_kernel_is_the_one_that_runs(run: Run) -> None:
    assert run(KERNEL.format(value="2")) == [2.0] * 16
    assert run(KERNEL.format(value="5")) == [5.0] * 16
    assert run(AGAIN) == [5.0] * 16
    assert run(KERNEL.format(value="2")) == [2.0] * 16


def test_for_a_kernel_that_is_no_name_of_the_notebook_tritons_error_is_explained(
    run: Run, capsys: pytest.CaptureFixture[str], wording: Wording
) -> None:
    text = BODY.format(factor="FACTOR")
    run("import types")
    run("elsewhere = types.SimpleNamespace()")
    InteractiveShell.instance().user_ns["elsewhere"].kernel = define(text, FACTOR=tl.constexpr(3))
    launch = "%%triton cpu --show none\nelsewhere.kernel[(1,)](out, 16)"
    assert run(launch)[5] == 15
    run("elsewhere.kernel.fn.__globals__['FACTOR'] = tl.constexpr(4)")
    capsys.readouterr()
    with pytest.raises(RuntimeError, match="variable FACTOR"):
        run(launch)
    wording(line_of(capsys.readouterr().out, "tl.constexpr argument"))


def test_elsewhere_tritons_own_error_stands() -> None:
    """A script has no cells: Triton refuses a kernel whose global has changed, and says which."""
    kernel = define(BODY.format(factor="FACTOR"), FACTOR=tl.constexpr(3))
    assert filled(kernel)[5] == 15
    kernel.fn.__globals__["FACTOR"] = tl.constexpr(4)
    with pytest.raises(RuntimeError, match="variable FACTOR"):
        filled(kernel)
