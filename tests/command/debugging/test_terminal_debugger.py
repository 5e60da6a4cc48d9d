from __future__ import annotations

import bdb
import contextlib
import io
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.launch.debugging.kernels import launched, stopping, summed
from triton_lab.command.debugging.terminal_commands import COMMANDS
from triton_lab.command.debugging.terminal_debugger import TerminalSession
from triton_lab.launch.launch import Launch

PLACE = re.compile(r"^> .*\((\d+)\)(\w+)\(\)", re.MULTILINE)
FIRST = summed.starting_line_number


@pytest.fixture(scope="module")
def sums() -> Launch:
    return launched(summed, 4, 3)


def talk(launch: Launch, *commands: str, first: bool = True) -> str:
    """What the debugger prints for these commands; the launch is left at the end."""
    out = io.StringIO()
    session = TerminalSession(first, io.StringIO("\n".join([*commands, "q", ""])), out)
    with contextlib.suppress(bdb.BdbQuit):
        session.show(launch)
    return out.getvalue().replace("(triton-lab) ", "")


def lines(text: str) -> list[int]:
    """The lines where it stood, counted from the head of the kernel."""
    return [int(line) - FIRST for line, _unused in PLACE.findall(text)]


def test_the_words_of_pdb_move_it_forwards_and_back(sums: Launch) -> None:
    assert lines(talk(sums, "n", "next", "rn", "s", "rs")) == [3, 4, 5, 4, 5, 4]


def test_an_empty_line_repeats_the_last_command(sums: Launch) -> None:
    assert lines(talk(sums, "n", "", "")) == [3, 4, 5, 6]


def test_breakpoints_with_conditions_are_listed_and_cleared(sums: Launch) -> None:
    told = talk(sums, f"b {FIRST + 7}, k == 2", "b acc becomes 0", "b", "c", "p k", "cl 1", "b")
    assert "k == 2" in told and told.count("acc becomes 0") >= 2
    assert lines(told) == [3, 6]
    assert lines(talk(sums, f"b {FIRST + 7}, k == 2", "c", "rc")) == [3, 7, 3]


def test_values_are_printed_in_each_frame_of_the_stack(sums: Launch) -> None:
    told = talk(sums, f"b {FIRST + 8}", "c", "s", "v", "u", "p i[3]", "p i", "d", "p k + 1", "w")
    assert re.search(r"^.*\b3$", told, re.MULTILINE)
    assert "[0 1 2 3 4 5 6 7]" in told
    assert "halved" in told


def test_what_is_wrong_is_said_and_the_debugger_goes_on(sums: Launch) -> None:
    wrong = [
        "b 1",
        "p missing",
        "b 1, (",
        "cl 9",
        "program 99",
        "stored x y z",
        "stored out[99]",
        "u",
        "unt x",
        "p " + "(" * 999,
    ]
    told = talk(sums, *wrong, "n")
    assert told.count("***") == len(wrong)
    assert lines(told) == [3, 4]


def test_programs_are_compared_and_selected(sums: Launch) -> None:
    told = talk(sums, "n", "beside 3", "program 3", "stored out[1]")
    assert re.search(r"^! pid: 0 \| 3$", told, re.MULTILINE) and re.search(r"^= n: 3 \| 3$", told, re.MULTILINE)
    assert "(3, 0, 0)" in told


def test_it_stops_at_the_breakpoint_of_a_kernel_alone() -> None:
    told = talk(launched(stopping), "p pid", "c", first=False)
    assert "(2, 0, 0)" in told and len(lines(told)) == 1


def test_breakpoints_and_watches_stay_for_later_launches(sums: Launch) -> None:
    out = io.StringIO()
    session = TerminalSession(True, io.StringIO(f"b {FIRST + 8}, k == 2\ndisplay k\nunt\ncl\nc\nq\n"), out)
    session.show(sums)
    assert session.wanted == [] and session.watched == ["k"]
    session = TerminalSession(True, io.StringIO(f"b {FIRST + 8}, k == 2 and pid == 3\nc\nc\nq\n"), out)
    session.show(sums)
    with pytest.raises(bdb.BdbQuit):
        session.show(sums)
    assert lines(out.getvalue().replace("(triton-lab) ", ""))[-2:] == [8, 8]


def test_each_command_has_a_method_and_help(sums: Launch) -> None:
    told = talk(sums, "h")
    assert all(names[0] in told and text for names, _unused, text in COMMANDS)


SCRIPT = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(x, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    v = tl.load(x + i) + 1
    breakpoint()
    tl.store(x + i, v)

x = torch.arange(4.0)
kernel[(1,)](x, 4)
print("stored", x.tolist())
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def test_a_breakpoint_without_a_terminal_is_passed_over(script: Path) -> None:
    done = subprocess.run(
        [sys.executable, script], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and "[1.0, 2.0, 3.0, 4.0]" in done.stdout
    assert f"{script}:8" in done.stderr


def in_a_terminal(command: list[str], typed: list[str]) -> tuple[str, int]:
    """Run a command in a terminal, typing a line at each prompt; returns what was on it, and the exit code."""
    child, main = pty.fork()
    if child == 0:
        os.execv(command[0], command)
    seen, waiting, answered, last = "", list(typed), 0, ""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if not select.select([main], [], [], 1.0)[0]:
            if last == "\x03":  # a reader that has just begun may lose it: a person presses the keys again
                os.write(main, b"\x03")
            continue
        try:
            seen += os.read(main, 65536).decode(errors="replace")
        except OSError:  # the other side is closed
            break
        if waiting and seen.count("(triton-lab) ") > answered:
            answered = seen.count("(triton-lab) ")
            last = waiting.pop(0)
            os.write(main, last.encode())
    os.close(main)
    return seen, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_breakpoint_in_a_terminal_opens_the_debugger(script: Path) -> None:
    seen, code = in_a_terminal([sys.executable, str(script)], ["p v\n", "c\n"])
    assert "[1. 2. 3. 4.]" in seen and f"{script.name}(8)kernel()" in seen
    assert "stored [1.0, 2.0, 3.0, 4.0]" in seen and code == 0


def test_an_interrupt_ends_the_script(script: Path) -> None:
    seen, code = in_a_terminal([sys.executable, "-m", "triton_lab", "debug", str(script)], ["n\n", "\x03"])
    assert "(7)kernel()" in seen and "stored" not in seen
    assert code == 130


def test_a_script_is_debugged_from_its_first_statement(script: Path) -> None:
    command = [sys.executable, "-m", "triton_lab", "debug", str(script)]
    done = subprocess.run(command, input="n\nc\np v.max()\nc\n", capture_output=True, text=True, timeout=120)
    assert [int(line) for line, _unused in PLACE.findall(done.stdout.replace("(triton-lab) ", "\n"))] == [6, 7, 8]
    assert "stored" in done.stdout and done.returncode == 0
    ended = subprocess.run(command, input="q\n", capture_output=True, text=True, timeout=120)
    assert "stored" not in ended.stdout and ended.returncode == 0
