"""Where stored elements of Gluon kernels came from: through shared memory, TMA, products, and other partitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import triton_lab as lab
from tests.gluon import cases
from tests.gluon.cases import Case
from triton_lab.launch.launch import Launch


def launched(case: Case) -> Launch:
    with lab.target("cpu"), lab.record() as launches:
        cases.launch(case)
    return launches[0]


def named(name: str) -> Case:
    return next(one for one in cases.cases(1) if one.kernel == name)


def found(launch: Launch, program: int, lane: int, iteration: int = 0) -> dict[str, set[int]]:
    """The elements of each argument behind one that the last store wrote."""
    store = [one for one in launch.accesses if one.kind == "store"][-1]
    every: dict[str, set[int]] = {}
    for one in launch.origins(store, program, lane, iteration):
        every.setdefault(str(one.argument), set()).update(one.elements.tolist())
    return every


@pytest.mark.parametrize("name", ["copies", "copies_to_a_barrier", "handed_over"])
@pytest.mark.parametrize("iteration", [0, 3])
def test_an_element_goes_through_a_ring_of_buffers(name: str, iteration: int) -> None:
    assert found(launched(named(name)), 0, 37, iteration) == {"x": {37 + 128 * iteration}}


@pytest.mark.parametrize("name", ["tiles", "in_place", "three_partitions"])
def test_an_element_of_a_tile_goes_through_tma(name: str) -> None:
    launch = launched(named(name))
    for iteration in (0, 4):
        assert found(launch, 0, 37, iteration) == {"x_desc": {288 + 5 + 32 * iteration}}


def test_rows_that_are_gathered() -> None:
    assert found(launched(named("rows")), 0, 37) == {"x_desc": {32 * 30 + 5}}


@pytest.mark.parametrize(
    "name", ["product", "product_from_registers", "product_of_stored", "fed_product", "in_tensor_memory"]
)
def test_an_element_of_a_product_needs_a_row_and_a_column(name: str) -> None:
    launch = launched(named(name))
    depth = launch.argument("K").value
    a, b = (one for one in ("a_desc", "a") if one in {each.name for each in launch.arguments}), None
    first = next(a)
    b = first.replace("a", "b", 1)
    row, column = 3, 17
    expected = {first: {row * depth + k for k in range(depth)}, b: {k * 128 + column for k in range(depth)}}
    assert found(launch, 0, row * 64 + column) == expected


def test_attention_needs_its_row_of_q_and_what_that_meets() -> None:
    elements = found(launched(named("attention")), 1, 64 * 5 + 9)
    assert elements["q_desc"] == set(range((64 + 5) * 64, (64 + 6) * 64))
    assert elements["k_desc"] == set(range(256 * 64))
    assert elements["v_desc"] == set(range(9, 256 * 64, 64))


def test_a_change_elsewhere_changes_nothing() -> None:
    """What is said to be needed is, and nothing else: by changing one element after the other."""
    case = named("product_of_stored")
    needed = found(launched(case), 0, 64 * 2 + 3)
    torch.manual_seed(0)
    a, b = torch.randn(128, 192).half(), torch.randn(192, 128).half()
    kernel = getattr(case.module, case.kernel)

    def stored() -> float:
        c = torch.zeros(128, 128).half()
        with lab.target("cpu"):
            kernel[(2, 2)](a, b, cases.described(c, [64, 64]), 192, 1)
        return float(c[2, 3])

    was = stored()
    chosen = np.random.default_rng(0)
    for name, tensor in (("a", a), ("b", b)):
        flat = tensor.view(-1)
        for element in [*chosen.choice(sorted(needed[name]), 3), *chosen.choice(flat.numel(), 3)]:
            kept = flat[int(element)].clone()
            flat[int(element)] += 64
            assert (stored() != was) == (int(element) in needed[name])
            flat[int(element)] = kept


def test_the_card_follows_stores_of_tma_too() -> None:
    launch = launched(named("fed_product"))
    assert "a_desc" in launch.plot.origins().text()
