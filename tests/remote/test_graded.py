"""A class is graded on workers: the table is that of here, within the same limits, and what came back stays."""

from __future__ import annotations

import threading
from pathlib import Path

from click.testing import CliRunner

from tests.course.test_grading import CHECK, RIGHT, notebook
from tests.remote.clusters import Shared, jobs_running, shared
from tests.remote.test_lost import wait_for
from triton_lab.command.main import triton_lab_command
from triton_lab.course.grading import grade

OTHER = 'exercise("grid_of_a_matrix").check(1)'


def test_the_table_is_that_of_here(school: Shared, tmp_path: Path) -> None:
    (tmp_path / "no.ipynb").write_text("[1]")
    files = [
        tmp_path / "no.ipynb",
        notebook(tmp_path / "unchecked.ipynb", "while True: pass"),
        notebook(tmp_path / "exits.ipynb", RIGHT, CHECK, "import os; os._exit(3)", OTHER),
        notebook(tmp_path / "wrong.ipynb", "idle_lanes = 25", CHECK),
    ]
    here = grade(files)
    assert [row.points for row in here] == [0, 1, 0, 0]
    here.to_csv(tmp_path / "here.csv")
    signed = [f"--tls-{name}={school.certificates.file(file)}" for name, file in
              (("ca-file", "ca"), ("cert", "cert"), ("key", "key"))]  # fmt: skip
    there = ["--scheduler", school.address, *signed, "--csv", str(tmp_path / "there.csv")]
    done = CliRunner().invoke(triton_lab_command, ["grade", *map(str, files), *there])
    assert done.exit_code == 0 and done.output == f"{here}\n"
    assert (tmp_path / "there.csv").read_text() == (tmp_path / "here.csv").read_text()
    endless = notebook(tmp_path / "endless.ipynb", "while True: pass", CHECK)
    (row,) = grade(endless, seconds=1, scheduler=school.address, security=school.certificates.security)
    assert row.points == 0 and "did not end within 1 s" in row.message


def test_a_lost_worker_takes_no_points_away(tmp_path: Path) -> None:
    """While the second notebook runs its worker ends, and no other one comes; its own process ends with that."""
    begun = tmp_path / "begun"
    with shared(tmp_path / "cluster") as small:
        assert small.worker is not None
        kill = small.worker.kill
        thread = threading.Thread(target=lambda: (wait_for(begun.exists, 120), kill()))
        thread.start()
        files = [
            notebook(tmp_path / "right.ipynb", RIGHT, CHECK),
            notebook(tmp_path / "ends.ipynb", f"open({str(begun)!r}, 'w')", "while True: pass", RIGHT, CHECK),
            notebook(tmp_path / "after.ipynb", RIGHT, CHECK),
        ]
        grades = grade(files, scheduler=small.address, security=small.certificates.security)
        thread.join()
        lost = "not graded: the workers were lost; grade it again when one is there"
        assert [(row.points, row.message) for row in grades] == [(1, ""), (0, lost), (0, lost)]
        wait_for(lambda: jobs_running() == 0)


def test_a_scheduler_that_anybody_may_read_is_refused(tmp_path: Path) -> None:
    file = notebook(tmp_path / "right.ipynb", RIGHT, CHECK)
    done = CliRunner().invoke(triton_lab_command, ["grade", str(file), "--scheduler", "tcp://gpu.example.org:8786"])
    assert done.exit_code == 1 and "use tls:// with certificates" in done.output
