"""How errors of a notebook's cells are told, in a kernel of Jupyter's without a browser."""

from __future__ import annotations

import re
import uuid
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.wordings import Wording

HEAD = "import torch, triton, triton.language as tl\n%load_ext triton_lab"
COPY = """%%triton cpu
@triton.jit
def copy(src, dst, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(src + i)
    tl.store(dst + i, v)
"""
LAUNCH = "copy[(8,)](torch.randn(1000), torch.empty(1000), 1000, BLOCK=128)\n"
EITHER = """%%triton cpu
import os
@triton.jit
def either(x, N: tl.constexpr):
    i = tl.arange(0, N)
    v = 1 if i > 3 else 2
    tl.store(x + i, v)
os.write(2, b"from somebody else\\n")
either[(1,)](torch.zeros(8), N=8)
"""
MISSING = """@triton.jit
def bad(x):
    tl.store(x, missing)
bad[(1,)](torch.zeros(8))
"""
TYPES = """import sys
print(sys.last_type.__name__, "touches element 1000 of src" in str(sys.last_value))
try:
    copy[(8,)](torch.randn(1000), torch.empty(1000), 1000, BLOCK=128)
except Exception as error:
    print("caught", type(error).__name__)"""
INTERRUPTED = """%%triton cpu
import signal
signal.signal(signal.SIGALRM, signal.default_int_handler)
@triton.jit
def long(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.zeros((BLOCK,), tl.float32)
    for k in range(100000000):
        a += tl.sqrt(a + i)
    tl.store(x + i, a)
def launch():
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    long[(4,)](torch.zeros(1 << 12), BLOCK=1 << 12)
long.warmup(torch.zeros(1 << 12), BLOCK=1 << 12, grid=(4,))
launch()
"""
# What Triton says while it reads a kernel; `and` of two blocks is a warning for each of them. What is in its cache it
# does not read, hence the remark.
SAYS = f"""%%triton cpu
@triton.jit
def says(x, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)  # {uuid.uuid4()}
    tl.static_print("read once")
    tl.store(x + o, max(o, 3), mask=(o < n) and (o > 2))
says[(1,)](torch.zeros(16), 5, BLOCK=16)
"""
CELLS = {
    "head": HEAD,
    "copy": COPY,
    "both": COPY + LAUNCH,
    "again": "%tb",
    "elsewhere": "%%triton cpu\n" + LAUNCH,
    "plain": LAUNCH,
    "caught": TYPES,
    "either": EITHER,
    "missing": MISSING,
    "says": SAYS,
    "refused": "import triton_lab as lab\nlab.polyhedral.scop(5)",
    "no file": "lab.load('nowhere')",
    "no launch": "copy(torch.zeros(4), torch.zeros(4), 4, BLOCK=4)",
    "the user's": "import json\njson.loads('{')",
    "interrupted": INTERRUPTED,
    "interrupted elsewhere": "launch()",
}


@pytest.fixture(scope="module")
def told() -> dict[str, str]:
    """What each of `CELLS` printed or raised, as text."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in CELLS.values()],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    NotebookClient(notebook, timeout=120, allow_errors=True).execute()
    return {name: _text(cell.outputs) for name, cell in zip(CELLS, notebook.cells, strict=True)}


def _text(outputs: list[Any]) -> str:
    said = [one.text if one.output_type == "stream" else "\n".join(one.get("traceback", ())) for one in outputs]
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(said)).strip()


def test_below_the_card_stands_what_a_log_needs(told: dict[str, str], wording: Wording) -> None:
    """Nobody looks on here, as where papermill runs a notebook: the line says what went wrong, too."""
    first, second = told["both"].split("\n")
    assert first.startswith("KernelError: ")
    assert all(part in first for part in ("lane 104", "program (7, 0, 0)", "element 1000", "src"))
    wording(second, place="line 5", launch="line 7")
    wording(told["elsewhere"].splitlines()[-1], place="cell [3], line 5", launch="line 2")


def test_the_whole_is_there_for_who_asks(told: dict[str, str]) -> None:
    assert "cell [3], line 7\n" in told["again"] and "cell [3], line 5, in kernel copy" in told["again"]
    assert told["caught"] == "KernelError True\ncaught KernelError"


def test_a_plain_cell_shows_the_users_lines_alone(told: dict[str, str]) -> None:
    assert told["plain"].split("\n")[1:3] == ["this cell, line 1", "-->    1 " + LAUNCH.strip()]
    assert "  cell [3], line 5, in kernel copy" in told["plain"] and "launcher.py" not in told["plain"]
    assert "`missing` is not defined" in told["missing"] and "this cell, line 3" in told["missing"]
    assert "site-packages" not in told["missing"]


def test_what_triton_prints_of_a_kernel_that_is_explained_is_held_back(told: dict[str, str]) -> None:
    assert "`if`" in told["either"]
    assert "from somebody else" in told["either"]
    assert "builtin.module" not in told["either"] and "scf.if" not in told["either"]


def test_what_triton_says_of_a_kernel_is_told_once_and_at_the_users_line(told: dict[str, str]) -> None:
    """The picture's twin of the kernel is read, too, and nobody wants to hear it again."""
    assert told["says"].count("read once") == 1
    assert len(re.findall(r"\bline 6: ", told["says"])) == 1
    assert told["says"].count("builtin max") == 1
    assert "tracemalloc" not in told["says"]


@pytest.mark.parametrize(
    ("name", "line", "told_at_the_end"),
    [
        ("refused", 2, "TypeError: "),
        ("no file", 1, "FileNotFoundError: "),
        ("no launch", 1, "copy[(programs,)](...)"),
    ],
)
def test_what_the_lab_refuses_shows_the_users_lines_alone(
    told: dict[str, str], name: str, line: int, told_at_the_end: str, wording: Wording
) -> None:
    lines = told[name].split("\n")
    wording(lines[1], line=line)
    assert told_at_the_end in "\n".join(lines[-2:])
    assert ".py" not in told[name]


def test_an_error_that_has_nothing_to_do_with_the_lab_is_left_to_ipython(told: dict[str, str]) -> None:
    assert "raw_decode(s, idx=" in told["the user's"] and "Traceback (" in told["the user's"]


def test_an_interrupt_shows_the_users_line(told: dict[str, str]) -> None:
    for cell, name in ("this cell", "interrupted"), (r"cell \[15\]", "interrupted elsewhere"):
        where = f"{cell}, line [89], in kernel long, launched in {cell}, line 13, in launch"
        line, loop = told[name].split("\n")[-2:]
        assert re.fullmatch(f"KeyboardInterrupt: {where}", line)
        assert "line 8" in loop and re.search(r"\d", loop)


def test_no_file_of_a_cell_is_named(told: dict[str, str]) -> None:
    assert not any("ipykernel" in text for text in told.values())
