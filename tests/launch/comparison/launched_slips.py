"""Two slips at once of which one is often the launch's: its grid, the order of its arguments, a sign of what it gets.

None of these had a part in how the search was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from tests.launch.comparison.more_slips import F, elements, product, rows
from tests.launch.comparison.slips import randn

GRID, ORDER, SIGN = "the number of programs", "the order of the arguments", "a missing minus sign"
LOOP = {"= for +=": "a loop that overwrites", "pointer that stays": "a pointer that a loop does not advance"}


@dataclass(frozen=True)
class Launched:
    """Of each slip one of its ``causes`` has to be named."""

    name: str
    causes: tuple[tuple[str, ...], tuple[str, ...]]
    run: Callable[[], Any]
    right: torch.Tensor


def by_elements() -> Iterator[Launched]:
    x, y = randn(300), randn(300, seed=1)
    for how, cause, right in (
        ("hard-coded block", "a wrong number", x - y * 2),
        ("where", "a comparison", torch.maximum(x, y)),
        ("sign", "an operator", x - y * 2),
        ("sin", "the function called", torch.cos(x) * y),
    ):
        for slip, grid, given in ((GRID, (4,), (x, y)), (ORDER, (5,), (y, x))):
            if (how, slip) != ("where", ORDER):  # the greater of two is the same the other way round
                yield Launched(
                    f"{how} and {slip}", ((cause,), (slip,)),
                    lambda how=how, grid=grid, given=given: elements[grid](  # type: ignore[misc]
                        *given, torch.zeros(300), 300, HOW=how, BLOCK=64
                    ),
                    right,
                )  # fmt: skip


def products() -> Iterator[Launched]:
    short = "a loop that ends an iteration early"
    for m, n, cases in (
        (64, 32, [(how, slip) for how in (*LOOP, "N for M in the mask") for slip in (GRID, short)]),
        (32, 64, [(how, ORDER) for how in LOOP]),
    ):
        a, b = randn(m, 48), randn(48, n, seed=1)
        for how, slip in cases:
            grid = (3, 2) if slip == GRID else (m // 16, n // 16)
            counts = (n, m) if slip == ORDER else (m, n)
            yield Launched(
                f"{how} and {slip}", ((LOOP.get(how, "the mask"),), (slip,)),
                lambda a=a, b=b, how=how, slip=slip, grid=grid, counts=counts: product[grid](  # type: ignore[misc]
                    a, b, torch.zeros(a.shape[0], b.shape[1]), *counts, 32 if slip == short else 48, 48, 1, HOW=how,
                    BM=16, BN=16, BK=16,
                ),
                (a.double() @ b.double()).float(),
            )  # fmt: skip


def by_rows() -> Iterator[Launched]:
    z = randn(6, 50)
    rms = z / torch.sqrt((z * z).mean(1, keepdim=True) + 1e-5)
    for how, cause, given, right in (
        ("n - 1", "a wrong number", z, F.layer_norm(z, (50,))),
        ("sqrt", "the function called", z, rms),
        ("sum for max", "the kind of reduction", z + 5, z + 5 - (z + 5).max(1, keepdim=True).values),
        ("max for min", "an operator", z, z.clamp(max=0.5)),
        ("no maximum", "powers that overflow", z * 100, torch.softmax(z * 100, 1)),
    ):
        for slip, grid, sign in ((GRID, 5, 1), (SIGN, 6, -1)):
            # A difference the other way round has the other sign; a product with a root is a quotient with 1 / root.
            causes = (slip, "the order of operands") if slip == SIGN else (slip,)
            # Less than a half with the sign of all is more than minus a half.
            first = {"sqrt": (cause, "an operator"), "max for min": (cause, "a wrong number")}.get(how, (cause,))
            yield Launched(
                f"{how} and {slip}", (first, causes),
                lambda how=how, given=given, grid=grid, sign=sign: rows[(grid,)](  # type: ignore[misc]
                    given * sign, torch.zeros(6, 50), 50, 1e-5, HOW=how, BLOCK=64
                ),
                right,
            )  # fmt: skip


LAUNCHED = [pair for kind in (by_elements, products, by_rows) for pair in kind()]
