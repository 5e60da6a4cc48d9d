"""Who looks on while a notebook's kernel runs: somebody, or nobody."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


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
