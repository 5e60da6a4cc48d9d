"""An interrupt ends drawing as it ends a launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backend.process import run

SCRIPT = """
import os, signal, threading, time
import torch, triton, triton.language as tl
import triton_lab
from triton_lab.views.launch.card.launch_card import Card

torch.set_num_threads(1)

@triton.jit
def gather(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + tl.load(index_ptr + at)))

lanes = 1 << 22
index = torch.randint(0, lanes, (lanes,), dtype=torch.int32)
with triton_lab.record() as launches:
    gather[(lanes // 4096,)](torch.rand(lanes), index, torch.empty(lanes), BLOCK=4096)
launch = launches[0]
drawing = threading.Event()

def interrupt():
    global sent
    drawing.wait()
    time.sleep({delay})
    sent = time.process_time()  # of work, however busy the machine is
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    drawing.set()
    while True:
        {drawn}
except KeyboardInterrupt:
    print("in time" if time.process_time() - sent < 1 else "late")
print(len(launch.plot.tiling("out_ptr").title()) > 0)
"""


@pytest.mark.parametrize("drawn", ["launch.plot.tiling('x_ptr').scene()", "Card(launch)._repr_mimebundle_()"])
def test_an_interrupt_stops_drawing_within_a_second(tmp_path: Path, drawn: str) -> None:
    told = run(SCRIPT.format(delay=1.5, drawn=drawn), folder=tmp_path)
    assert told.split("\n") == ["in time", "True"]
