"""Under the pytest plugin an autotuner takes its first configuration that runs."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources

import triton_lab as lab
from triton_lab.testing.first_config import first_that_runs

tried: list[int] = []


def refuse(arguments: dict[str, Any]) -> None:
    raise OutOfResources(9, 1, "shared memory")


CONFIGS = [
    triton.Config({"BLOCK": 8}, pre_hook=refuse),
    *(triton.Config({"BLOCK": block}, pre_hook=lambda at: tried.append(at["BLOCK"])) for block in (32, 64, 16)),
]


def tuned(configs: list[triton.Config] = CONFIGS, **options: Any) -> Any:
    @triton.autotune(configs, key=["n"], **options)
    @triton.jit
    def fill(x_ptr, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x_ptr + at, 1.0, mask=at < n)

    return fill


def launch(kernel: Any, n: int) -> Any:
    x = torch.zeros(n)
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, n)
    assert x.sum() == n
    return kernel.best_config.kwargs["BLOCK"]


def mine(kernel_call: Any, quantiles: Any) -> float:
    """A benchmark of the user's own, which gives one number, and less for each configuration than for those before."""
    kernel_call()
    return 1 / len(tried)


@pytest.mark.parametrize(
    "kernel", [tuned(), tuned(CONFIGS[1:], do_bench=mine)], ids=["Triton's benchmark", "the user's own"]
)
def test_no_configuration_is_tried_behind_the_first_that_runs(kernel: Any) -> None:
    tried.clear()
    with lab.target("cpu"), first_that_runs():
        assert launch(kernel, 100) == 32
        assert tried == [32, 32]  # tried, and launched
        assert launch(kernel, 200) == 32, "another key: tried anew, the one that cannot run too"
        assert launch(kernel, 100) == 32
    assert tried == [32] * 5


def test_outside_all_are_tried_as_before() -> None:
    tried.clear()
    with first_that_runs():
        pass
    with lab.target("cpu"):
        chosen = launch(tuned(), 100)
    assert tried == [32, 64, 16, chosen]


def test_what_a_launch_tells_of_its_choice_calls_none_of_the_others_failed() -> None:
    with lab.target("cpu"), first_that_runs(), lab.record() as launches:
        launch(tuned(), 100)
    (recorded,) = launches
    assert recorded.tuning is not None
    assert [bool(one.failed) for one in recorded.tuning.tried] == [True, False, False, False]


def test_nothing_of_it_is_kept_on_disk_or_read_there() -> None:
    configs = [triton.Config({"BLOCK": block}) for block in (128, 256)]
    times = []
    with lab.target("cpu"):
        for choosing in (first_that_runs(), contextlib.nullcontext(), first_that_runs()):
            kernel = tuned(configs, cache_results=True)
            with choosing:
                launch(kernel, 300)
            times.append([math.isfinite(three[0]) for three in kernel.configs_timings.values()])
    assert times == [[True, False], [True, True], [True, False]]
