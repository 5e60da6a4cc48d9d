"""Errors of the lab are short wherever they are met, with nothing said before but an import."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests import warm

ROOT = Path(__file__).parents[2]
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
LONGEST = 14  # lines: where, what, the piece of the kernel and what to do
HEAD = "import torch, triton, triton.language as tl\n"
# A script that ends with an error, what is said of it, and the lines of its own that are shown.
WRONG = {
    "nest": (
        'import triton_lab as lab\nlab.polyhedral.scop("for (int i = 0; i < n; i++) A[i] = B[A[i]] - 1;", n=4)\n',
        "NotAScop: line 1, column 38",
    ),
    "misspelt": (
        HEAD + "@triton.jit\ndef k(x, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), tl.laod(x))\n"
        "k[(1,)](torch.zeros(16), B=16)\n",
        "did you mean `tl.load`?",
    ),
    "out_of_bounds": (
        HEAD + "@triton.jit\ndef k(x, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), 1.0)\n"
        "k[(1,)](torch.zeros(10), B=16)\n",
        "KernelError: store out of bounds: lane 10",
    ),
    "argument": (
        HEAD + "@triton.jit\ndef k(x, n, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), n)\n"
        "k[(1,)](torch.zeros(16), B=16)\n",
        "pass n",
    ),
    "layout": ('import triton_lab as lab\nlab.layout("#ttg.nonsense<{}>", (16,))\n', "LayoutError: "),
    "check": (
        HEAD + "import triton_lab as lab\n@triton.jit\ndef k(x):\n    tl.store(x, tl.program_id(0))\n"
        "with lab.check():\n    k[(4,)](torch.zeros(1))\n",
        "CheckFailed: ",
    ),
    "exercise": (
        'from triton_lab.course import exercise\nexercise("idle_lanes").check(3)\n',
        "3 is wrong",
    ),
    "recursion": (
        HEAD + "@triton.jit\ndef k(x, n: tl.constexpr):\n    k(x, n + 1)\nk[(1,)](torch.zeros(1), 1)\n",
        "`k` calls itself",
    ),
}


def run(*command: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(cwd / "ipython")} | variables
    environment["TRITON_LAB_PROGRESS"] = str(cwd / "progress.json")
    return subprocess.run(
        warm.command(*command), cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_in_a_cell() -> None:
    cells = [nbformat.v4.new_code_cell(code) for code, _ in WRONG.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=240, allow_errors=True).execute()
    for name, cell in zip(WRONG, notebook.cells, strict=True):
        (error,) = [output for output in cell.outputs if output["output_type"] == "error"]
        lines = COLOURS.sub("", "\n".join(error["traceback"])).split("\n")
        assert len(lines) <= LONGEST, name
        assert WRONG[name][1] in "\n".join(lines)


def test_in_ipython_at_a_terminal(tmp_path: Path) -> None:
    code = "".join(f"get_ipython().run_cell({code!r})\nprint('----', flush=True)\n" for code, _ in WRONG.values())
    told = run("-m", "IPython", "--no-banner", "--simple-prompt", "-c", code, cwd=tmp_path).stdout.split("----\n")
    for (name, (_, words)), shown in zip(WRONG.items(), told, strict=False):
        assert len(shown.splitlines()) <= LONGEST, name
        assert words in COLOURS.sub("", shown)


@pytest.mark.parametrize("name", ["nest", "misspelt", "out_of_bounds", "exercise"])
def test_in_a_script(name: str, tmp_path: Path) -> None:
    code, words = WRONG[name]
    (tmp_path / "script.py").write_text(code)
    ended = run("script.py", cwd=tmp_path)
    lines = ended.stderr.splitlines()
    assert ended.returncode == 1
    assert words in ended.stderr and "\x1b" not in ended.stderr
    assert lines[0].startswith("Traceback (") and len(lines) <= LONGEST
    files = re.findall(r'File "(.*?)"', ended.stderr)
    assert set(files) == {str(tmp_path / "script.py")}, "no frame of Triton's and of the lab's"


def test_all_frames_are_shown_where_they_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(WRONG["nest"][0])
    ended = run("script.py", cwd=tmp_path, TRITON_LAB_TRACEBACK="full")
    assert "affine_reader.py" in ended.stderr and ended.returncode == 1


def test_errors_of_others_are_pythons_to_tell(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import triton_lab, json\njson.loads('{')\n")
    assert "json/decoder.py" in run("script.py", cwd=tmp_path).stderr
    (tmp_path / "hook.py").write_text(
        "import sys\nsys.excepthook = lambda *error: print('the hook before', file=sys.stderr)\n"
        "import triton_lab\n1 / 0\n"
    )
    assert run("hook.py", cwd=tmp_path).stderr == "the hook before\n"


def test_in_a_test(tmp_path: Path) -> None:
    for name, (code, _) in WRONG.items():
        head, body = [], []
        for line in code.splitlines():
            (head if line.startswith(("import", "from", "@", "def", "    tl", "    k(")) else body).append(line)
        test = "".join(f"    {line}\n" for line in body)
        (tmp_path / f"test_{name}.py").write_text("\n".join(head) + f"\ndef test():\n{test}")
    told = run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", *sorted(f"test_{name}.py" for name in WRONG), cwd=tmp_path
    )
    shown = re.split(r"^_+ test _+$", told.stdout, flags=re.MULTILINE)[1:]
    assert len(shown) == len(WRONG), told.stdout + told.stderr
    for name, one in zip(sorted(WRONG), shown, strict=True):
        one = one.partition("= short test summary")[0]
        assert WRONG[name][1] in one, one
        assert len(one.splitlines()) <= 2 * LONGEST and "triton/runtime" not in one, one
    whole = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--full-trace", "test_nest.py", cwd=tmp_path)
    assert "affine_reader.py" in whole.stdout
