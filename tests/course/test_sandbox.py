"""The processes that run a stranger's cells: what they see, and that all of them end; without namespaces, too.

Each in a process of its own, since a sandbox ends all children of the process that starts it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import pytest

from tests.wordings import Wording
from triton_lab.course.judging import sandbox

STARTED = '''
import json, os, sys, time
from triton_lab.course.judging import sandbox

apart, folder = sys.argv[1] == "apart", sys.argv[2]
if not apart:
    sandbox._unshared = lambda: False

def work(end):
    """Say what is seen; leave a process in a session of its own behind, and hang."""
    seen = sorted(int(one) for one in os.listdir("/proc") if one.isdigit())
    files = []
    for place in (os.path.dirname(sandbox.__file__), folder):
        try:
            open(os.path.join(place, "written"), "w").close()
            os.unlink(os.path.join(place, "written"))
            files.append(True)
        except OSError:
            files.append(False)
    ready, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(tell, b"1")
            time.sleep(1000)
        os._exit(0)
    os.read(ready, 1)
    end.sendall(json.dumps({"seen": seen, "files": files}).encode() + b"\\n")
    time.sleep(1000)

box = sandbox.start(work, folder, 1 << 30)
told = json.loads(box.end.makefile().readline())
from triton_lab.processes.descendants import memory_of_descendants as taken
before = taken(os.getpid())[1]
box.close()
print(json.dumps({**told, "limits": box.limits, "before": before, "after": taken(os.getpid())[1]}))
'''

ENDED = """
import os, sys, time
from triton_lab.course.judging import sandbox
sandbox_memory, text = 1 << 28, sys.argv[2]
box = sandbox.start(lambda end: exec(text), sys.argv[1], sandbox_memory)
print(box.why(60))
box.close()
"""


def run(script: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def has_namespaces() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        told = run("import sys\n" + ENDED.replace("box.why(60)", "box.limits"), folder, "pass")
    return not told


def test_all_that_it_starts_ends_with_it() -> None:
    import json

    for how in ("apart", "beside"):
        with tempfile.TemporaryDirectory() as folder:
            told = json.loads(run(STARTED, how, folder))
        assert told["before"] >= 3 and told["after"] == 0
        if how == "beside":
            assert told["limits"] == sandbox.WITHOUT


@pytest.mark.skipif(not has_namespaces(), reason="this machine gives no user namespaces")
def test_it_sees_no_process_and_writes_to_its_folder_alone() -> None:
    import json

    with tempfile.TemporaryDirectory() as folder:
        told = json.loads(run(STARTED, "apart", folder))
        assert os.listdir(folder) == []
    assert told["limits"] == "" and told["seen"] == [1, 2] and told["files"] == [False, True]


@pytest.mark.parametrize(
    ("cell", "label", "facts"),
    [
        ("os._exit(3)", "exit", {"code": 3}),
        ("os.kill(os.getpid(), 9)", "signal", {"signal": 9}),
        ("y = os.fork(); z = bytearray(b'1') * (200 << 20); time.sleep(99)", "memory", {"limit": "0.25 GB"}),
    ],
    ids=["exit", "signal", "memory"],
)
def test_how_it_ended_is_told(cell: str, label: str, facts: dict[str, object], wording: Wording) -> None:
    with tempfile.TemporaryDirectory() as folder:
        wording(run(ENDED, folder, cell), label, **facts)
