"""Processes that begin with torch already imported: forks of a process that has imported it.

Importing torch takes about two seconds of work, most of the time of a small script or a notebook's kernel.
``command`` returns what to start instead of Python: a small process that requests a fork, passes it arguments,
environment, folder and standard streams, forwards signals, and ends with the fork. If that process is killed, so is
the fork. ``modules`` may name a function of a module, ``module:function``, that is called once. Tests of what a
process imports, or of how it starts, start an ordinary Python.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable

FILE = os.path.abspath(__file__)
TORCH = ("torch",)
LAUNCH = ("tests.preloading:launches",)
# A notebook's kernel, and what its first cells and its first picture nearly always import.
KERNEL = ("ipykernel.kernelapp", "islpy", "ipywidgets", "anywidget", "tests.preloading:kernels")

_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_MEASURED = ("COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG")


def command(*arguments: str, modules: tuple[str, ...] = TORCH) -> list[str]:
    """What to start for ``python *arguments`` (``-c code``, ``-m module``, or a file first), ``modules`` imported."""
    if any(name in os.environ for name in _MEASURED):  # lines are measured from a process's own beginning
        return [sys.executable, *arguments]
    return [sys.executable, "-I", "-S", FILE, "ask", _listening(modules), *arguments]


@functools.cache
def _listening(modules: tuple[str, ...]) -> str:
    """Where a process with ``modules`` listens. It is started by who asks first, and ends with this process."""
    folder = tempfile.mkdtemp(prefix="triton-lab-")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path := os.path.join(folder, "warm"))
        listening.listen()
        number = listening.fileno()
        served = subprocess.Popen(
            [sys.executable, FILE, "serve", str(number), *modules],
            stdin=subprocess.PIPE,
            pass_fds=[number],
            start_new_session=True,  # an interrupt from the keyboard is for who asked
        )
    owner = os.getpid()

    def end() -> None:
        if os.getpid() == owner:
            served.stdin.close()
            served.wait()
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return path


def ask(path: str, arguments: list[str]) -> int:
    """Have a fork run ``arguments`` in the place of this process; the code to exit with, less than 0 for a signal."""
    asked = {"arguments": arguments, "environment": dict(os.environ), "folder": os.getcwd()}
    with socket.socket(socket.AF_UNIX) as server:
        signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
        server.connect(path)
        socket.send_fds(server, [b" "], [0, 1, 2])
        with server.makefile("rw", encoding="utf-8") as lines:
            lines.write(json.dumps(asked) + "\n")
            lines.flush()
            fork = int(lines.readline() or -signal.SIGKILL)
            if fork < 0:
                return fork
            for number in _PASSED_ON:
                signal.signal(number, lambda number, _: _send(fork, number))
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
            return int(lines.readline() or -signal.SIGKILL)


def _send(fork: int, number: int) -> None:
    """To the fork and what it has started, or to it alone where it has no group of its own yet."""
    for send in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            send(fork, number)
            return


def serve(number: int) -> list[str]:
    """Fork for all who ask at the socket ``number``; returns in the forks alone, with what each is to run."""
    import selectors

    forks: dict[int, socket.socket] = {}
    woken, wake = socket.socketpair()
    woken.setblocking(False)
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    listening = socket.socket(fileno=number)
    selector = selectors.DefaultSelector()
    for each in (listening, woken, 0):
        selector.register(each, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj == 0:
                for fork in forks:
                    _send(fork, signal.SIGKILL)
                os._exit(0)
            elif key.fileobj is woken:
                woken.recv(1 << 16)
                for fork, code in _ended():
                    asking = forks.pop(fork)
                    if asking in selector.get_map():
                        selector.unregister(asking)
                        _tell(asking, code)
                    asking.close()
            elif key.fileobj is listening:
                asking, _ = listening.accept()
                _, streams, _, _ = socket.recv_fds(asking, 1, 3)
                with asking.makefile("r", encoding="utf-8") as lines:
                    line = lines.readline()
                if not line.endswith("\n"):  # killed while it asked
                    asking.close()
                    for stream in streams:
                        os.close(stream)
                    continue
                fork = os.fork()
                if not fork:
                    for one in (listening, woken, wake, asking, *forks.values()):
                        one.close()
                    selector.close()
                    return _become(json.loads(line), streams)
                for stream in streams:
                    os.close(stream)
                forks[fork] = asking
                selector.register(asking, selectors.EVENT_READ)
                _tell(asking, fork)
            else:
                for fork in [fork for fork, asking in forks.items() if asking is key.fileobj]:  # who asked is gone
                    selector.unregister(key.fileobj)
                    _send(fork, signal.SIGKILL)


def _ended() -> list[tuple[int, int]]:
    """The forks that have ended, each with its code."""
    found = []
    while True:
        try:
            fork, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if not fork:
            return found
        found.append((fork, os.waitstatus_to_exitcode(status)))


def _tell(asking: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # nobody waits for it any more
        asking.sendall(f"{number}\n".encode())


def _become(asked: dict, streams: list[int]) -> list[str]:
    """A process as if it had just begun; what it is to run."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    return asked["arguments"]


def run(arguments: list[str]) -> None:
    """As ``python *arguments`` does."""
    import runpy
    import types

    first, *rest = arguments
    if first == "-m":
        sys.path.insert(0, os.getcwd())
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if first == "-c":
        sys.path.insert(0, "")
        sys.argv = ["-c", *rest[1:]]
        text, file = rest[0], "<string>"
    else:
        main.__file__ = file = os.path.abspath(first)
        sys.path.insert(0, os.path.dirname(file))
        sys.argv = arguments
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
    exec(compile(text, file, "exec"), main.__dict__)


def ended(run: Callable[[], None]) -> int:
    """The code to exit with once ``run`` is through, after all that Python does at its end, except taking modules
    apart: that copies a fork's memory page by page, and takes longer than most of what a fork is asked for."""
    code = 0
    interrupted = False
    try:
        run()
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
        code = end.code & 0xFF if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        where = error.__traceback__
        while where is not None and where.tb_frame.f_code.co_filename == FILE:
            where = where.tb_next
        sys.excepthook(type(error), error.with_traceback(where), where)
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (OSError, ValueError):  # nobody reads it any more
            code = code or 120
    if interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return code


def main() -> None:
    what, where, *rest = sys.argv[1:]
    if what == "ask":
        code = ask(where, rest)
        if code < 0:
            with contextlib.suppress(OSError):  # that of SIGKILL is fixed
                signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        sys.exit(code)
    import gc
    import importlib

    del sys.path[0]  # the folder of this file, whose modules are of the package `tests`
    for name in rest:
        module, _, function = name.partition(":")
        imported = importlib.import_module(module)
        if function:
            getattr(imported, function)()
    for thread in threading.enumerate():  # forks would leave behind what is not done yet
        if thread is not threading.current_thread():
            thread.join(60)
    gc.collect()
    gc.freeze()  # what is collected in forks need not touch, and so copy, all of it
    arguments = serve(int(where))
    os._exit(ended(lambda: run(arguments)))


if __name__ == "__main__":
    main()
