"""Scripts that end, hide, fork, kill, loop, flood and forge, handed to ``triton-lab check``, and innocent twins.

A script with a race must not end with exit code 0, however it ends; an innocent one must not end with another.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.outcome import Try

SECONDS = 150  # for each script, on a machine that is busy with others

HEAD = """\
import atexit, ctypes, gc, json, multiprocessing, os, signal, subprocess, sys, threading, time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
import torch, triton, triton.language as tl

@triton.jit
def racing(o): tl.store(o, tl.program_id(0))

@triton.jit
def filling(o): tl.store(o + tl.program_id(0), tl.program_id(0))

@triton.jit
def spinning(o):
    i = 0
    while tl.load(o) == 0:
        tl.store(o + 1 + tl.program_id(0), i)
        i += 1

def race(*_): racing[(4,)](torch.zeros(1, dtype=torch.int32))
def fill(*_): filling[(4,)](torch.zeros(4, dtype=torch.int32))
SPUN = torch.zeros(9, dtype=torch.int32)
def spin(*_): spinning[(4,)](SPUN)
def end():
    while not SPUN.any(): time.sleep(0.1)
    os._exit(0)

"""
MAIN = "if __name__ == '__main__':\n    "
# Starts a Python of its own that launches; {} is what it launches, and what more is said of it.
ANOTHER = (
    "SOURCE = open(__file__).read().partition('# the end of the head')[0] + '\\n{}()\\n'\n"
    "open('worker.py', 'w').write(SOURCE)\n"
)


@dataclass(frozen=True)
class Case:
    """A script, the options of ``check``, and what is right: exit codes, and words that are said (one of them)."""

    name: str
    text: str
    codes: tuple[int, ...]
    said: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    seconds: float = SECONDS
    signal: int = 0  # sent to `triton-lab` when the script has printed "ready"


RACE = "[race]"
ENDED = "the script failed"
UNSEEN = "not checked"


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _endings()
    yield from _killed()
    yield from _processes()
    yield from _reports()
    yield from _innocent()


def _endings() -> Iterator[Case]:
    both = {
        "os._exit(0)": "race(); os._exit(0)",
        "sys.exit(0)": "race(); sys.exit(0)",
        "raise SystemExit": "race()\nraise SystemExit",
        "quit": "race(); quit(0)",
        "_exit of the C library": "race(); ctypes.CDLL(None)._exit(0)",
        "exit of the C library": "race(); ctypes.CDLL(None).exit(0)",
        "exec of true": "race(); os.execv('/bin/true', ['true'])",
        "exec of another Python": "race(); os.execv(sys.executable, [sys.executable, '-c', 'pass'])",
        "the end in a thread": "race(); threading.Thread(target=os._exit, args=(0,)).start(); time.sleep(60)",
        "the end at the exit": "race(); atexit.register(os._exit, 0)",
        "a launch at the exit": "atexit.register(race)",
        "a launch at the exit, and the end": "atexit.register(os._exit, 0); atexit.register(race)",
        "a launch when a thread ends": "threading.Thread(target=lambda: (time.sleep(.5), race())).start()",
        "a launch in a pool of threads": "with ThreadPoolExecutor() as pool: list(pool.map(race, range(3)))",
        "a caught exit": "race()\ntry: sys.exit(0)\nexcept SystemExit: pass\nos._exit(0)",
        "a hook for exceptions that ends": "race(); sys.excepthook = lambda *_: os._exit(0)\nraise ValueError",
        "closed output": "race(); os.close(1); os.close(2)",
        "closed streams": "race(); sys.stdout.close(); sys.stderr.close()",
        "output that is nowhere": "sys.stdout = sys.stderr = None\nrace()",
        "all descriptors closed": "os.closerange(0, 4096); race(); os._exit(0)",
        "another folder": "os.chdir('/'); race()",
        "another root of temporary files": "os.environ['TMPDIR'] = '/nowhere'; race()",
        "no environment": "os.environ.clear(); race(); os._exit(0)",
    }
    for name, text in both.items():
        yield Case(name, text, (1,), (RACE,))
        yield (
            Case(f"{name}, strict", text, (1,), (RACE,), ("--strict",))
            if len(name) < 14
            else Case(f"{name}, as JSON", text, (1,), ('"race"',), ("--format", "json"))
        )
    yield Case("the end in the midst of a launch", "threading.Thread(target=end).start(); spin()", (2,), (ENDED,))
    yield Case("an exit code", "race(); os._exit(3)", (2,), ("exit code 3",))
    yield Case("an error besides", "race(); 1 / 0", (2,), ("ZeroDivisionError",))
    few = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (3, 4096)); race()"
    yield Case("no descriptors", few, (2,), (ENDED,))
    yield Case("files of no size", "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); race()", (2,))


def _killed() -> Iterator[Case]:
    for one in ("SIGTERM", "SIGKILL", "SIGSEGV", "SIGABRT", "SIGHUP", "SIGALRM"):
        yield Case(f"{one} to itself", f"race(); os.kill(os.getpid(), signal.{one}); time.sleep(9)", (2,), (one,))
    yield Case("SIGINT to itself", "race(); os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", (130,), (RACE,))
    yield Case("a null pointer", "race(); ctypes.string_at(0)", (2,), ("SIGSEGV",))
    yield Case("a kill at the exit", "race(); atexit.register(os.kill, os.getpid(), 9)", (2,), ("SIGKILL",))
    yield Case("a kill of the group", "race(); os.setpgrp(); os.killpg(0, 15); time.sleep(9)", (2,), ("SIGTERM",))
    ready = "race(); print('ready', flush=True)\n"
    yield Case("Ctrl-C", ready + "time.sleep(99)", (130,), (RACE,), signal=2)
    yield Case("Ctrl-C in a launch", "print('ready', flush=True); race(); spin()", (130,), (), signal=2)
    yield Case("SIGTERM to us", ready + "time.sleep(99)", (143, 2), (RACE,), signal=15)
    caught = "signal.signal(15, lambda *_: os._exit(0))\n"
    yield Case("SIGTERM that is caught", caught + ready + "time.sleep(99)", (143, 1), (RACE,), signal=15)


def _processes() -> Iterator[Case]:
    for how in ("fork", "spawn", "forkserver"):
        context = f"context = multiprocessing.get_context('{how}')\n    "
        process = "process = context.Process(target=race); process.start(); process.join()"
        yield Case(f"a process by {how}", MAIN + context + process, (1,), (RACE, UNSEEN))
        pool = "with context.Pool(2) as pool: pool.map(race, range(2))"
        yield Case(f"a pool by {how}", MAIN + context + pool, (1,), (RACE, UNSEEN), ("--strict",))
    yield Case(
        "a pool of processes",
        MAIN + "with ProcessPoolExecutor(2) as pool: list(pool.map(race, range(2)))",
        (1,),
        (RACE,),
    )
    yield Case("a raw fork", "if os.fork() == 0: race(); os._exit(0)\nos.wait()", (1,), (RACE,))
    yield Case("a fork that goes on", "if os.fork() == 0: race()", (1,), (RACE,))
    yield Case("a fork of the C library", "if ctypes.CDLL(None).fork() == 0: race(); os._exit(0)\nos.wait()", (1,))
    daemon = "if os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
    yield Case("a daemon", daemon + "os.closerange(0, 99); time.sleep(1); race()", (1,), (RACE,))
    yield Case("a killed worker", "if os.fork() == 0: race(); os.kill(os.getpid(), 9)\nos.wait()", (1,), (RACE,))
    ends = "if os.fork() == 0: threading.Thread(target=end).start(); spin()\nos.wait()"
    yield Case("a worker that ends in a launch", ends, (1,), (UNSEEN,), ("--strict",))
    run = "subprocess.run([sys.executable, 'worker.py'])"
    yield Case("another Python", ANOTHER.format("race") + run, (1,), (RACE,))
    bare = "subprocess.run([sys.executable, 'worker.py'], env={'PYTHONPATH': os.environ.get('PYTHONPATH', '')})"
    yield Case("another Python with a bare environment", ANOTHER.format("race") + bare, (1,), (UNSEEN,), ("--strict",))
    shell = "os.system('env -u TRITON_LAB_JOURNAL ' + sys.executable + ' worker.py')"
    yield Case("another Python of a shell", ANOTHER.format("race") + shell, (1,), (UNSEEN,), ("--strict",))
    yield Case(
        "exec of another script", ANOTHER.format("race") + "os.execv(sys.executable, ['python', 'worker.py'])", (1,)
    )
    left = "subprocess.Popen([sys.executable, 'worker.py'], start_new_session=True)"
    yield Case("another Python that is left behind", ANOTHER.format("race") + left, (1,), (RACE,))
    asleep = "\nif os.fork() == 0: os.setsid(); time.sleep(30); race(); os._exit(0)\n"
    yield Case("a sleeper that is left behind", asleep, (1,), (UNSEEN,), ("--strict",))
    yield Case("Triton's interpreter in another Python", ANOTHER.format("race") + (
        "subprocess.run([sys.executable, 'worker.py'], env={**os.environ, 'TRITON_INTERPRET': '1'})"
    ), (1,), (UNSEEN,), ("--strict",))  # fmt: skip


JOURNAL = (
    "folder = json.loads(os.environ['TRITON_LAB_JOURNAL'])[0]\nfiles = [f'{folder}/{x}' for x in os.listdir(folder)]\n"
)


def _reports() -> Iterator[Case]:
    yield Case("no report", "import shutil; race()\n" + JOURNAL + "shutil.rmtree(folder)", (2,), (ENDED,))
    yield Case("an empty report", "race()\n" + JOURNAL + "[open(x, 'w') for x in files]", (2,), (ENDED,))
    lines = "lines = open(files[0]).read().split('\\n')\n"
    without = JOURNAL + lines + "open(files[0], 'w').write('\\n'.join(x for x in lines if '\"judged\"' not in x))"
    yield Case("a report without its findings", "race()\n" + without, (2,), (ENDED,))
    edited = JOURNAL + lines + "open(files[0], 'w').write('\\n'.join(lines).replace('race', 'fine'))"
    tail = JOURNAL + lines + "open(files[0], 'w').write('\\n'.join(lines[:2]))\nos._exit(0)"
    yield Case("a report without its end", "race()\n" + tail, (2,), (ENDED,))
    yield Case("an edited report", "race()\n" + edited, (2,), (ENDED,))
    twice = JOURNAL + lines + "open(files[0], 'a').write('\\n'.join(lines))"
    yield Case("a report that is there twice", "race()\n" + twice, (2,), (ENDED,))
    yield Case(
        "noise in the report", JOURNAL + "open(files[0], 'ab').write(os.urandom(1 << 20)); race()", (1,), (RACE,)
    )
    forged = "[open(x, 'a').write('\\n' + 32 * '0' + ' [0, \"ended\", 0, {}]\\n') for x in files]\n"
    yield Case("a forged report", JOURNAL + forged + "race(); os._exit(0)", (1,), (RACE,))
    flood = JOURNAL + "for k in range(2000): open(f'{folder}/{k}', 'w').write('x' * 1000)\n"
    yield Case("many reports", flood + "race()", (1,), (RACE,))
    yield Case(
        "a pipe as a report", JOURNAL + "os.mkfifo(folder + '/1'); os.symlink('/dev/zero', folder + '/2'); race()", (1,)
    )
    words = "for fd in range(3, 64):\n    try: os.write(fd, b'{}')\n    except OSError: pass\n"
    yield Case("noise in all descriptors", "race()\n" + words, (1,), (RACE,))
    yield Case("many launches", "for k in range(300): fill()\nrace()", (1,), (RACE,))
    yield Case("a flood of words", "race()\nfor k in range(20000): print('x' * 100)", (1,), (RACE,))


def _innocent() -> Iterator[Case]:
    fine = {
        "os._exit(0)": "fill(); os._exit(0)",
        "the end": "fill()",
        "a launch at the exit": "atexit.register(fill)",
        "a fork": "if os.fork() == 0: fill(); os._exit(0)\nos.wait()",
        "a fork without a launch": "fill()\nif os.fork() == 0: time.sleep(1); os._exit(0)\nos.wait()",
        "a pool": MAIN + "fill()\n    with multiprocessing.Pool(2) as pool: pool.map(fill, range(2))",
        "a spawned pool": MAIN + "with multiprocessing.get_context('spawn').Pool(1) as pool: pool.map(fill, range(2))",
        "a daemon": "fill()\nif os.fork(): os._exit(0)\nos.setsid()\nos.closerange(0, 99); time.sleep(1); fill()",
        "closed output": "fill(); os.close(1); os.close(2)",
        "another program": "fill(); subprocess.run(['true']); os.system('true')",
        "a program that is left behind": "fill(); subprocess.Popen(['sleep', '20'])",
        "another Python": ANOTHER.format("fill") + "subprocess.run([sys.executable, 'worker.py'])",
        "a worker that is killed": "fill()\nif os.fork() == 0: fill(); os.kill(os.getpid(), 9)\nos.wait()",
        "noise in the report": JOURNAL + "open(files[0], 'ab').write(os.urandom(1 << 16)); fill()",
    }
    for name, text in fine.items():
        yield Case(f"innocent: {name}", text, (0,), ("no errors",), ("--strict",))


def tries(seed: int) -> Iterator[Try]:
    """One for each script."""
    for case in cases():
        yield tried(case)


def _hear_of_hang_ups() -> None:
    """Undo `nohup`, under which a long run of all scripts is started."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


COMMAND = (sys.executable, "-m", "triton_lab", "check", "script.py")


def tried(case: Case, command: Sequence[str] = COMMAND) -> Try:
    """What becomes of one script, which ``command`` checks."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "script.py").write_text(HEAD + "# the end of the head\n" + case.text + "\n")
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "NO_COLOR": "1"}
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        process = subprocess.Popen(
            [*command, *case.options],
            cwd=folder,
            env=env,
            stdout=pipe,
            stderr=pipe,
            stdin=nothing,
            preexec_fn=_hear_of_hang_ups,
        )
        try:
            if case.signal:
                assert process.stdout is not None
                while b"ready" not in (line := process.stdout.readline()):
                    if not line:
                        break
                process.send_signal(case.signal)
            out, err = process.communicate(timeout=case.seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return Try(case.name, "hung", f"no verdict after {case.seconds:.0f} s")
    said = out.decode(errors="replace")
    seen = f"exit code {process.returncode}: {said[-1500:]}\n{err.decode(errors='replace')[-1500:]}"
    if process.returncode not in case.codes or (case.said and not any(word in said for word in case.said)):
        return Try(case.name, "wrong", seen)
    if b"triton_lab/" in err and b"Traceback" in err:
        return Try(case.name, "wrong", seen)
    return Try(case.name, "survived" if process.returncode in (0, 1) else "refused")
