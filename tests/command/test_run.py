"""`triton-lab run`: a script as in Python, a table of its launches, and a page with their cards."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from rich.console import Console

from tests import warm
from tests.command.conftest import Call
from tests.command.scripts import BEYOND, FINE, HEAD, UNWRITTEN, written
from tests.wordings import Wording
from triton_lab.command import launch_journal, session_log
from triton_lab.command.launch_rows import table


@triton.jit
def filling(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, offsets)


@triton.jit
def racing(x_ptr):
    tl.store(x_ptr, tl.program_id(0))


PLAIN = {**os.environ, "NO_COLOR": "1"}


def started() -> list[str]:
    return warm.command("-m", "triton_lab", modules=warm.LAUNCH)


def test_a_table_has_the_launches_and_standard_output_is_the_scripts(
    folder: Path, call: Call, wording: Wording
) -> None:
    written(folder, FINE + UNWRITTEN.removeprefix(HEAD))
    done = call("run", "script.py", "--target", "cpu")
    assert (done.exit_code, done.stdout) == (0, "arguments:\n")
    table = [re.split(r" {2,}", line.strip()) for line in done.stderr.splitlines() if re.match(r" *\d[\d to]*  ", line)]
    # Equal launches in a row are one line, and their times are added up.
    assert [(row[0], row[1], row[2], row[3], row[5]) for row in table] == [
        ("0 to 5", "add", "8, 1, 1", "cpu", "–"),
        ("6", "add", "8, 1, 1", "cpu", "1 error"),
        ("7", "add", "8, 1, 1", "cpu", "1 error"),
        ("8", "add", "8, 1, 1", "cpu", "1 error"),
    ]
    assert "script.py:11:9: error: " in done.stderr
    wording(done.stderr.splitlines()[-1], launches="9 launches", kernels="1 kernel", errors="1 error")
    assert "\x1b" not in done.stdout + done.stderr


def test_the_exit_code_and_the_error_are_the_scripts(folder: Path, call: Call) -> None:
    written(folder, BEYOND)
    done = call("run", "script.py")
    assert done.exit_code == 1
    # The error comes first, where Python prints it, in words of the lab, without the frames between.
    error, _, told = done.stderr.partition("#   kernel")
    assert error.startswith("Traceback (") and "KernelError: " in error
    assert "triton/runtime" not in error and "launcher.py" not in error and "1 error" in told
    written(folder, FINE + "sys.exit(7)")
    assert call("run", "script.py").exit_code == 7


def test_a_kernel_that_does_not_compile_is_explained(folder: Path, call: Call, wording: Wording) -> None:
    written(folder, FINE.replace("tl.load(y_ptr + offsets, mask=mask)", "torch.ones(3)"))
    done = call("run", "script.py")
    assert done.exit_code == 1 and "`torch.ones`" in done.stderr and "site-packages" not in done.stderr
    wording(done.stderr.splitlines()[-1])


def test_the_page_has_a_card_of_each_launch_that_is_drawn_and_asks_for_nothing(folder: Path, call: Call) -> None:
    written(folder, FINE + UNWRITTEN.removeprefix(HEAD) + "print(1 / 0)")
    done = call("run", "script.py", "ä & b", "--html", "report.html")
    assert done.exit_code == 1 and "wrote report.html" in done.stderr
    page = (folder / "report.html").read_text()
    # The first two of the kernel, and the first two with the finding.
    assert re.findall(r'id="launch-(\d+)"', page) == ["0", "1", "6", "7"]
    assert re.findall(r'href="#launch-(\d+)"', page) == ["6", "0", "1", "6", "7"]
    assert page.count("<details open>") == 1 and "4 of 9 launches" in page
    assert "script.py ä &amp; b" in page and "ZeroDivisionError: " in page
    assert "2 to 5" in page and "script.py:11:9" in page
    outside = {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML", "http://www.w3.org/1999/xhtml"}
    assert set(re.findall(r"https?://[^\s\"'`)<]+", page)) <= outside
    assert len(page) < 3_000_000


def test_a_page_of_very_many_launches_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wording: Wording
) -> None:
    from triton_lab.command import html_report, launch_listener
    from triton_lab.command.launch_listener import cards
    from triton_lab.command.run_script import Script
    from triton_lab.command.session_log import heard_of

    monkeypatch.setattr(launch_listener, "MOST", 3)
    monkeypatch.setattr(html_report, "ROWS", 5)
    place = launch_journal.JournalPlace(str(tmp_path), "key")
    mine = launch_journal.Journal(place, "script")
    # Grids that alternate are never equal in a row.
    with launch_listener.listening(mine, draw=True) as here:
        for k in range(40):
            filling[(1 + k % 2,)](torch.zeros(999, dtype=torch.int32), BLOCK=128)
        racing[(4,)](torch.zeros(1, dtype=torch.int32))
        racing[(1,)](torch.zeros(1, dtype=torch.int32))
    for number, card in cards(here.kept):
        mine.write("card", launch=number, title=card.title, packed=card.packed)
    page = html_report.page(heard_of(launch_journal.read(place)), Script("script.py"), "")
    assert re.findall(r'id="launch-(\d+)"', page) == ["0", "1", "40"]
    assert page.count("<tr") == 1 + 5
    wording(re.search(r"37 more launches[^<]*", page)[0], filling="35 of filling", racing="2 of racing")  # type: ignore[index]
    wording(re.search(r"<p>([^<]*are drawn[^<]*)</p>", page)[1], drawn="3 of 42 launches")  # type: ignore[index]


def test_launches_are_let_go(folder: Path, call: Call) -> None:
    """However many there are, the script's own tensors are not held by what is kept of them."""
    written(
        folder,
        HEAD + "import gc, weakref\nalive = []\n"
        "for k in range(8):\n    x = torch.ones(1000)\n    alive.append(weakref.ref(x))\n    launch(x)\n"
        "del x\ngc.collect()\nprint('alive:', sum(ref() is not None for ref in alive))\n",
    )
    assert "alive: 0" in call("check", "script.py").stdout
    assert "alive: 8" not in call("run", "script.py", "--html", "r.html").stdout


def test_processes_of_the_script_run_it_as_python_lets_them(folder: Path, wording: Wording) -> None:
    """Those that start anew import the script, those that fork go on in it; the report is made once."""
    written(
        folder,
        "import multiprocessing, os, sys\n"
        "def tell(how):\n    print(how, __name__, sys.argv, flush=True)\n"
        "if __name__ == '__main__':\n"
        "    for how in ('spawn', 'fork'):\n"
        "        child = multiprocessing.get_context(how).Process(target=tell, args=(how,))\n"
        "        child.start()\n        child.join()\n        assert child.exitcode == 0\n"
        "    if os.fork() == 0:\n        sys.exit(5)\n"
        "    print(os.waitstatus_to_exitcode(os.wait()[1]))\n",
    )
    done = subprocess.run(
        [*started(), "run", "script.py", "x"], capture_output=True, text=True, check=False, env=PLAIN, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "spawn __mp_main__ ['script.py', 'x']",
        "fork __main__ ['script.py', 'x']",
        "5",
    ]
    wording(done.stderr)  # once, and of no launch that was not checked: nothing was launched there


def test_ctrl_c_ends_the_script_and_what_was_heard_is_told(folder: Path) -> None:
    written(folder, FINE + "print('ready', flush=True)\nwhile True:\n    launch(torch.ones(1000))\n")
    process = subprocess.Popen(
        [*started(), "run", "script.py"],
        **{"cwd": folder, "env": PLAIN, "text": True},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)][1] == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "KeyboardInterrupt" in err and " launches of 1 kernel" in err


def on_a_terminal(*words: str, cwd: Path, columns: int = 80) -> str:
    """What a command writes to a terminal, its exit code being 0."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, True)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [*started(), *words], cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, env={**env, "TERM": "xterm"}
    )
    os.close(theirs)
    told = b""
    while True:
        try:
            some = os.read(ours, 1 << 16)
        except OSError:  # how Linux says that the other end is closed
            break
        if not some:
            break
        told += some
    os.close(ours)
    assert process.wait() == 0, told.decode()
    return told.decode()


SLOW = FINE + "import time\nprint('partly', end='', flush=True)\ntime.sleep(1)\nprint(' done')\ntime.sleep(1)\n"


def test_a_terminal_shows_colours_and_what_is_done_but_not_into_the_scripts_words(folder: Path) -> None:
    written(folder, SLOW + UNWRITTEN.removeprefix(HEAD))
    told = on_a_terminal("run", "script.py", cwd=folder)
    assert "6 launches · " in told
    assert "partly done\r\n" in told
    # What is done is wiped away before anything else is written, and is gone at the end.
    for drawn in re.finditer(r"\x1b\[2m\d launch[^\x1b]*\x1b\[22m", told):
        assert told[drawn.end() :].startswith("\r\x1b[2K")
    assert "\x1b[1;31m" in told  # an error
    assert (
        max(len(line) for line in re.sub(r"\x1b\[[0-9;]*[mK]", "", told).split("\r\n") if "│" in line or "─" in line)
        <= 80
    )


def test_a_narrow_terminal_gets_a_table_that_fits() -> None:
    lines = [
        session_log.LaunchLine(k, "a_kernel_with_quite_a_name", (k + 1, 1, 1), "cpu", 0.1, False, {"error": 1}, False)
        for k in range(60)
    ]
    file = io.StringIO()
    Console(file=file, width=44).print(table(lines, narrow=True))
    told = file.getvalue()
    assert max(map(len, told.splitlines())) <= 44 and "target" not in told
    assert "1 error" in told and "20 more launches: 20 of" in " ".join(told.split())


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("flush", [True, False])
def test_who_reads_on_no_more_gets_no_traceback(command: str, flush: bool, tmp_path: Path) -> None:
    script = tmp_path / "long.py"
    script.write_text(f"for k in range(30_000):\n    print('line', k, flush={flush})\n")
    done = subprocess.run(
        ["bash", "-c", '"$@" | head -1; exit ${PIPESTATUS[0]}', "bash", *started(), command, script],
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.stdout == "line 0\n" and done.returncode
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr
