"""A class is graded on workers: the table is that of here, within the same limits, and what came back stays."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from click.testing import CliRunner

from tests.course.test_grading import CHECK, RIGHT, written
from tests.remote.clusters import Shared, shared
from tests.remote.test_lost import wait_for
from triton_lab.command.main import triton_lab_command
from triton_lab.course.grading import grade

OTHER = 'exercise("grid_of_a_matrix").check(1)'


def test_the_table_is_that_of_here(school: Shared, tmp_path: Path) -> None:
    (tmp_path / "no.ipynb").write_text("[1]")
    files = [
        tmp_path / "no.ipynb",
        written(tmp_path / "unchecked.ipynb", "while True: pass"),
        written(tmp_path / "exits.ipynb", RIGHT, CHECK, "import os; os._exit(3)", OTHER),
        written(tmp_path / "wrong.ipynb", "idle_lanes = 25", CHECK),
    ]
    here = grade(files, told=None)
    assert [row.file for row in here if row.points] == [str(files[2])]
    assert {row.file for row in here} == set(map(str, files))
    here.to_csv(tmp_path / "here.csv")
    signed = [f"--tls-{name}={school.certificates.file(file)}" for name, file in
              (("ca-file", "ca"), ("cert", "cert"), ("key", "key"))]  # fmt: skip
    there = ["--scheduler", school.address, *signed, "--csv", str(tmp_path / "there.csv")]
    done = CliRunner().invoke(triton_lab_command, ["grade", *map(str, files), *there])
    assert done.exit_code == 0 and done.stdout == f"{here}\n"
    assert (tmp_path / "there.csv").read_text() == (tmp_path / "here.csv").read_text()
    endless = written(tmp_path / "endless.ipynb", "while True: pass", CHECK)
    secured = {"scheduler": school.address, "security": school.certificates.security}
    row = grade(endless, seconds=1, told=None, **secured)[-1]
    assert row.points == 0
    assert "1 s" in row.message


def test_a_lost_worker_takes_no_points_away(tmp_path: Path) -> None:
    """The worker ends while it grades the second notebook, and no other one comes; that notebook ends with it."""
    with shared(tmp_path / "cluster") as small:
        assert small.worker is not None
        worker = small.worker.pid
        files = [
            written(tmp_path / "right.ipynb", RIGHT, CHECK),
            written(tmp_path / "during.ipynb", "while True: pass", RIGHT, CHECK),
            written(tmp_path / "after.ipynb", RIGHT, CHECK),
        ]
        running: list[int] = []

        def told(line: str) -> None:
            """The first has ended: wait for the judge of the second, and end the worker."""
            if line.startswith("[1/"):
                wait_for(lambda: len(started(worker, "judging.judge")) > 2)
                running.extend(started(worker, ""))
                os.kill(worker, signal.SIGKILL)

        grades = grade(files, told=told, scheduler=small.address, security=small.certificates.security)
        lost = "not graded: the connection to the workers was lost. Grade it again when a worker is there"
        assert [Path(row.file).stem for row in grades if row.points] == ["right"]
        assert {row.message for row in grades if "right" not in row.file} == {lost}
        wait_for(lambda: not any(Path("/proc", str(one)).exists() for one in running))


def started(process: int, what: str) -> list[int]:
    """All processes that ``process`` has started, and theirs, of whose command line ``what`` is a part."""
    found: list[int] = []
    for task in Path("/proc", str(process), "task").glob("*/children"):
        with contextlib.suppress(OSError):
            for one in map(int, task.read_text().split()):
                if what in Path("/proc", str(one), "cmdline").read_text():
                    found.append(one)
                found += started(one, what)
    return found


def test_a_scheduler_that_anybody_may_read_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "right.ipynb", RIGHT, CHECK)
    done = CliRunner().invoke(triton_lab_command, ["grade", str(file), "--scheduler", "tcp://gpu.example.org:8786"])
    assert done.exit_code == 1 and "insecure=True" in done.output
