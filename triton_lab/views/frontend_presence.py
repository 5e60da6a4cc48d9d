"""Who looks on while a notebook's kernel runs: somebody, or nobody.

A kernel hears of JupyterLab's extension before it has run anything: nothing is imported here until pictures are asked
for.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

TARGET = "triton_lab.views"  # of the comm that JupyterLab's extension opens, one for each kernel

_announced = False  # whether a front end that draws scenes by itself has opened the comm
_lines: deque[Any] = deque(maxlen=8)  # the newest comms: a page that is loaded anew closes none, and hears nothing
# Who is asked in place of a picture, by the name that stands for a view's: called with the comm and the question.
standing: dict[str, Callable[[Any, Mapping[str, Any]], None]] = {}


def announced() -> bool:
    """Whether a front end has said that it draws scenes by itself, so that no widget is needed."""
    return _announced


def lines() -> list[Any]:
    """The comms of the front ends that listen."""
    return list(_lines)


def listen(shell: Any, then: Callable[[], None] = lambda: None) -> None:
    """Answer comms, where a notebook's kernel runs us; ``then`` is called when the first is opened."""
    comms = getattr(getattr(shell, "kernel", None), "comm_manager", None)
    if comms is not None and TARGET not in comms.targets:
        comms.register_target(TARGET, lambda comm, _: _opened(comm, then))


def _opened(comm: Any, then: Callable[[], None]) -> None:
    global _announced
    _announced = True
    _lines.append(comm)

    def answer(message: Any) -> None:
        data = message["content"]["data"]
        if data.get("view") in standing:
            standing[data["view"]](comm, data)
        else:
            from triton_lab.views.comm_handlers import asked

            asked(comm, data)

    comm.on_msg(answer)
    then()


def widgets_are_shown() -> bool:
    """Whether whoever started this kernel shows widgets: a Jupyter server for a notebook, VS Code or Colab.

    What runs a notebook with nobody looking on (nbclient, nbconvert, papermill) shows none, and what it writes must
    not name any: converters prefer a widget that is not there to the picture that is.
    """
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if getattr(shell, "kernel", None) is None:
        return False
    if "COLAB_RELEASE_TAG" in os.environ or "VSCODE_PID" in os.environ:
        return True
    return "__vsc_ipynb_file__" in shell.user_ns or ("JPY_SESSION_NAME" in os.environ and not _inherited())


def _inherited() -> bool:
    """Whether the name of the session comes from a notebook's cell that runs a notebook, and not from a server."""
    try:
        return b"JPY_SESSION_NAME=" in Path(f"/proc/{os.getppid()}/environ").read_bytes()
    except OSError:  # another user's, or no Linux
        return False
