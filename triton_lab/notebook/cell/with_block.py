"""`lab.cell`: what ``%%triton`` does, as a ``with`` block, for notebooks that have no magics and for scripts."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from triton_lab.launch.recording.launch_list import Launches
from triton_lab.launch.recording.record import record
from triton_lab.notebook.cell import magic_options
from triton_lab.notebook.cell.compile_option import compile_launches
from triton_lab.notebook.cell.progress_line import Sign
from triton_lab.notebook.cell.run_cell import switched
from triton_lab.notebook.cell.show_launches import show_launches


@contextlib.contextmanager
def cell(line: str = "") -> Iterator[Launches]:
    """Record the launches inside, and show their cards below, as a cell with ``%%triton`` does.

    ``line`` is what stands behind ``%%triton``: a target and options. Raises ``ValueError`` for a line that says
    nothing known, and what the code inside raises, after the cards are shown.

    >>> with lab.cell("cpu --show grid") as launches:  # doctest: +ELLIPSIS
    ...     out = add(x, y, block=256)
    add_kernel[4, 1, 1]...
    """
    chosen = magic_options.parse(line)
    if chosen.help:
        print(magic_options.usage())
    sign = Sign(None, lambda: "", time.monotonic)
    launches = Launches()
    try:
        with switched(chosen) as notes, record(time=True) as launches:
            yield launches
    finally:
        for note in notes:
            print(note)
        refused = compile_launches(launches, chosen, sign) if chosen.gpus else None
        show_launches(launches, chosen, sign)
    if refused is not None:
        raise refused
