"""The front ends that are connected to a notebook's kernel, and whether there are any.

JupyterLab's extension announces itself before the kernel has run anything: this module imports nothing until pictures
are requested.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from triton_lab.localization import follow

TARGET = "triton_lab.views"  # of the comm that JupyterLab's extension opens, one for each kernel

_announced = False  # whether a front end that draws scenes by itself has opened the comm
_lines: deque[Any] = deque(maxlen=8)  # the newest comms: a reloaded page opens another, and closes none
# Handlers that are not views: called with the comm and the question, by the name used in place of a view's id.
standing: dict[str, Callable[[Any, Mapping[str, Any]], None]] = {}


def announced() -> bool:
    """Whether a front end has announced that it draws scenes itself, so that no widget is needed."""
    return _announced


def lines() -> list[Any]:
    """The comms of the front ends that are connected."""
    return list(_lines)


def listen(shell: Any = None, then: Callable[[], None] = lambda: None) -> None:
    """Answer comms, where a notebook's kernel runs us (``shell``, or IPython's own); ``then`` is called when the first
    is opened."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython() if shell is None else shell
    comms = getattr(getattr(shell, "kernel", None), "comm_manager", None)
    if comms is not None and TARGET not in comms.targets:
        comms.register_target(TARGET, lambda comm, opened: _opened(comm, opened, then))


def _opened(comm: Any, opened: Mapping[str, Any] | None, then: Callable[[], None]) -> None:
    global _announced
    _announced = True
    _lines.append(comm)
    language = (opened or {}).get("content", {}).get("data", {}).get("language")
    if isinstance(language, str):
        follow(language)

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
    """Whether the program that started this kernel shows widgets: a Jupyter server for a notebook, VS Code or Colab.

    Programs that run a notebook unattended (nbclient, nbconvert, papermill) show none. Their outputs must not name a
    widget: converters would prefer the missing widget to the existing picture.
    """
    return kernel_runs() and (_has_own_widgets() or is_jupyter())


def kernel_runs() -> bool:
    """Whether this process is a notebook's kernel."""
    return getattr(_shell(), "kernel", None) is not None


def is_jupyter() -> bool:
    """Whether a Jupyter server started this kernel for a notebook: JupyterLab or Notebook 7."""
    return not _has_own_widgets() and "JPY_SESSION_NAME" in os.environ and not _inherited()


def _has_own_widgets() -> bool:
    """Whether this is Colab or VS Code, which show widgets in their own ways."""
    return bool({"COLAB_RELEASE_TAG", "VSCODE_PID"} & os.environ.keys()) or (
        "__vsc_ipynb_file__" in getattr(_shell(), "user_ns", ())
    )


def is_imported(module: str, name: str) -> bool:
    """Whether the user's notebook knows a module by this name; True where there is no notebook."""
    shell = _shell()
    return shell is None or getattr(shell.user_ns.get(name), "__name__", "") == module


def _shell() -> Any:
    from IPython.core.getipython import get_ipython

    return get_ipython()


def _inherited() -> bool:
    """Whether the session's name is inherited: from a notebook whose cell runs another notebook, not from a server."""
    try:
        return b"JPY_SESSION_NAME=" in Path(f"/proc/{os.getppid()}/environ").read_bytes()
    except OSError:  # another user's process, or no Linux
        return False
