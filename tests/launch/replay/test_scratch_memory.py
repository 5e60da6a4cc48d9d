"""`scratch`: memory for a replay that only observers look at."""

import numpy as np
import torch
import triton
import triton.language as tl

import triton_lab
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay, scratch


@triton.jit
def scale_and_count(x_ptr, out_ptr, count_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, 2 * tl.load(x_ptr + i, mask=i < n), mask=i < n)
    tl.atomic_add(count_ptr, 1)


@triton.jit
def double_where_it_points(table_ptr, BLOCK: tl.constexpr):
    place = tl.load(table_ptr).to(tl.pointer_type(tl.float32)) + tl.arange(0, BLOCK)
    tl.store(place, 2 * tl.load(place))


class Stored(Watcher):
    """Keeps the numbers that are stored."""

    def __init__(self):
        self.values = []

    def access(self, frame, op, kind, pointer, mask, values):
        if kind == "store":
            self.values.append(np.array(values))


def recorded(run):
    with triton_lab.record() as launches:
        run()
    return launches[0]


def test_only_what_is_read_and_written_is_copied():
    x, out, hits = torch.arange(100.0), torch.zeros(100), torch.zeros(1, dtype=torch.int32)
    launch = recorded(lambda: scale_and_count[(2,)](x, out, hits, 100, BLOCK=64))
    memory = scratch(launch)
    kept = {held.start: held.data for held in launch.snapshot.regions}
    shared = {
        name: np.shares_memory(memory.holding(tensor.data_ptr()).data, kept[tensor.untyped_storage().data_ptr()])
        for name, tensor in {"x": x, "out": out, "hits": hits}.items()
    }
    assert shared == {"x": True, "out": False, "hits": False}
    assert not memory.holding(x.data_ptr()).data.flags.writeable
    before, stored = {start: data.copy() for start, data in kept.items()}, Stored()
    replay(launch, access_observer=stored, memory=memory)
    np.testing.assert_equal(np.concatenate([each.ravel() for each in stored.values])[:100], 2 * x.numpy())
    assert all((data == before[start]).all() for start, data in kept.items())
    assert memory.holding(hits.data_ptr()).data.view(np.int32)[0] == 2


def test_a_pointer_from_memory_may_lead_anywhere():
    numbers = torch.arange(16.0)
    table = torch.tensor([numbers.data_ptr()])

    launch = recorded(lambda: double_where_it_points[(1,)](table, BLOCK=16))
    for _ in range(2):  # the first run leaves what was recorded as it was
        stored = Stored()
        replay(launch, access_observer=stored, memory=scratch(launch))
        np.testing.assert_equal(stored.values[0].ravel(), 2 * np.arange(16.0))
