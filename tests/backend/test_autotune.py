"""Autotuned kernels, heuristics and benchmarks on the CPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import triton
import triton.language as tl
import triton.testing

import triton_lab as lab
from triton_lab.backend.plugin.recorders import LaunchCall, Recorder, Watch, recorders
from triton_lab.backend.targets import benchmark_events


@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(y + offsets, tl.load(x + offsets, mask=inside) * 2, mask=inside)


@triton.jit
def scale_wide(x, y, n, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK == 64 if WIDE else BLOCK == 16)
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(y + offsets, tl.load(x + offsets, mask=inside) * 2, mask=inside)


@triton.jit
def accumulate(y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(y + offsets, tl.load(y + offsets, mask=inside) + 1, mask=inside)


def configs(*blocks: int, **more) -> list[triton.Config]:
    return [triton.Config({"BLOCK": block}, **more) for block in blocks]


def grid(meta):
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


@pytest.fixture
def calls() -> Iterator[list[LaunchCall]]:
    """All launches of the test, trials too."""
    heard: list[LaunchCall] = []

    class Listener(Recorder):
        def before(self, call):
            return Watch()

        def after(self, call):
            heard.append(call)

    with recorders.listening(Listener()):
        yield heard


def test_each_configuration_runs_once_and_then_the_best(calls):
    tuned = triton.autotune(configs(16, 32, 64), key=["n"])(scale)
    x, y = torch.arange(100.0), torch.zeros(100)
    tuned[grid](x, y, 100)
    assert torch.equal(y, x * 2)
    assert [call.trial for call in calls] == [True, True, True, False]
    assert sorted(call.objects["BLOCK"] for call in calls[:3]) == [16, 32, 64]
    assert calls[3].objects["BLOCK"] == tuned.best_config.kwargs["BLOCK"]


def test_the_choice_is_kept_for_the_key(calls):
    tuned = triton.autotune(configs(16, 32), key=["n"])(scale)
    x, y = torch.arange(100.0), torch.zeros(100)
    for n in (100, 100, 50, 50, 100):
        tuned[grid](x, y, n)
    assert [call.trial for call in calls].count(True) == 4


def test_a_configuration_is_timed_by_its_run_alone(calls):
    tuned = triton.autotune(configs(16, 32), key=["n"])(scale)
    tuned[grid](torch.arange(100.0), torch.zeros(100), 100)
    spent = {config.kwargs["BLOCK"]: times[0] for config, times in tuned.configs_timings.items()}
    for call in calls[:2]:
        # Compilation would take a hundred times as long.
        assert spent[call.objects["BLOCK"]] == pytest.approx(call.seconds * 1e3)


def test_trials_are_no_launches_but_a_table_of_the_launch():
    tuned = triton.autotune(configs(16, 32), key=["n"])(scale)
    with lab.record() as launches:
        tuned[grid](torch.arange(100.0), torch.zeros(100), 100)
        tuned[grid](torch.arange(100.0), torch.zeros(100), 100)
    assert len(launches) == 2
    assert sorted(text.split(",")[0] for text, _ in launches[0].configs) == ["BLOCK=16", "BLOCK=32"]
    assert launches[1].configs == []


def test_values_that_trials_change_are_reset_and_restored():
    zeroed = triton.autotune(configs(16, 32), key=["n"], reset_to_zero=["y"])(accumulate)
    y = torch.zeros(100)
    zeroed[grid](y, 100)
    assert y.tolist() == [1] * 100
    restored = triton.autotune(configs(16, 32), key=["n"], restore_value=["y"])(accumulate)
    y = torch.full((100,), 5.0)
    restored[grid](y, 100)
    assert y.tolist() == [6] * 100


def test_trials_of_a_benchmark_of_the_users_own_are_trials_too(calls):
    def bench(kernel_call, quantiles):
        kernel_call()
        return [1.0] * len(quantiles)

    tuned = triton.autotune(configs(16, 32), key=["n"], do_bench=bench)(scale)
    tuned[grid](torch.arange(100.0), torch.zeros(100), 100)
    assert [call.trial for call in calls] == [True, True, False]


def test_configurations_carry_warps_stages_and_hooks():
    seen = []
    tuned = triton.autotune(
        [
            triton.Config({"BLOCK": 32}, num_warps=w, num_stages=s, pre_hook=lambda a: seen.append(a["n"]))
            for w, s in ((2, 2), (8, 4))
        ],
        key=["n"],
    )(scale)
    x, y = torch.arange(100.0), torch.zeros(100)
    kernel = tuned[grid](x, y, 100)
    assert torch.equal(y, x * 2)
    assert kernel.metadata.num_warps == tuned.best_config.num_warps
    assert seen == [100] * 3


def test_pruned_configurations_are_not_tried(calls):
    tuned = triton.autotune(
        configs(16, 32, 64), key=["n"], prune_configs_by={"early_config_prune": lambda configs, *_, **__: configs[:2]}
    )(scale)
    tuned[grid](torch.arange(100.0), torch.zeros(100), 100)
    assert [call.trial for call in calls] == [True, True, False]


def test_heuristics_choose_by_the_arguments():
    chosen = triton.heuristics({"BLOCK": lambda arguments: triton.next_power_of_2(arguments["n"])})(scale)
    x, y = torch.arange(100.0), torch.zeros(100)
    with lab.record() as launches:
        chosen[(1,)](x, y, 100)
    assert torch.equal(y, x * 2)
    assert launches[0].argument("BLOCK").value == 128


def test_heuristics_see_what_the_autotuner_chose():
    chosen = triton.autotune([triton.Config({"WIDE": wide}) for wide in (False, True)], key=["n"])(
        triton.heuristics({"BLOCK": lambda arguments: 64 if arguments["WIDE"] else 16})(scale_wide)
    )
    x, y = torch.arange(100.0), torch.zeros(100)
    chosen[lambda meta: (triton.cdiv(100, 16),)](x, y, 100)
    assert torch.equal(y, x * 2)


@pytest.mark.parametrize("more", [{}, {"quantiles": [0.5, 0.2, 0.8]}, {"return_mode": "min"}])
def test_do_bench_measures_milliseconds(more):
    x, y = torch.arange(100.0), torch.zeros(100)
    found = triton.testing.do_bench(lambda: scale[(1,)](x, y, 100, BLOCK=128), warmup=1, rep=3, **more)
    times = found if isinstance(found, list) else [found]
    assert len(times) == (3 if "quantiles" in more else 1)
    assert all(0 < time < 1000 for time in times)


def test_do_bench_is_no_trial(calls):
    x, y = torch.arange(100.0), torch.zeros(100)
    triton.testing.do_bench(lambda: scale[(1,)](x, y, 100, BLOCK=128), warmup=1, rep=1)
    assert calls and not any(call.trial for call in calls)


def test_what_a_benchmark_asks_of_a_device_answers():
    interface = benchmark_events.DeviceInterface
    first, second = (interface.Event(enable_timing=True) for _ in range(2))
    first.record()
    second.record()
    second.synchronize()
    interface.synchronize()
    assert second.query() and first.elapsed_time(second) >= 0
    with interface.stream(interface.current_stream()):
        interface.current_stream().synchronize()


def test_hooks_hear_of_a_launch(monkeypatch):
    heard = []
    monkeypatch.setattr(triton.knobs.runtime, "launch_enter_hook", lambda data: heard.append(("enter", data.get())))
    monkeypatch.setattr(triton.knobs.runtime, "launch_exit_hook", lambda data: heard.append(("exit", data.get())))
    hooked = triton.jit(scale.fn)
    hooked.add_pre_run_hook(lambda *args, **kwargs: heard.append(("before", kwargs["BLOCK"])))
    hooked[(1,)](torch.arange(4.0), torch.zeros(4), 4, BLOCK=4)
    assert [kind for kind, _ in heard] == ["before", "enter", "exit"]
    assert heard[0][1] == 4 and heard[1][1]["name"] == "scale"


def test_a_kernel_may_describe_its_launches(monkeypatch):
    heard = []

    def describe(grid, kernel, arguments):
        return {"name": f"{kernel.name} over {grid}", "elements": arguments["n"]}

    monkeypatch.setattr(triton.knobs.runtime, "launch_enter_hook", lambda data: heard.append(data.get()))
    described = triton.jit(launch_metadata=describe)(scale.fn)
    described[(2,)](torch.arange(4.0), torch.zeros(4), 4, BLOCK=4)
    assert heard[0]["name"] == "scale over (2,)" and heard[0]["elements"] == 4
