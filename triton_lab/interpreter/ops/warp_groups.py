"""``ttng``: products of warp groups (wgmma), which read shared memory until they are waited for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.buffer_accesses import USED_BEFORE_WAIT
from triton_lab.interpreter.asynchronous.pending_work import PendingWork
from triton_lab.interpreter.asynchronous.shared_views import SharedView
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.number_conversion import widen
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.ops.dot import integer_product, product_sum
from triton_lab.interpreter.ops.local_memory import truth
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Block, Function, Op, traits
from triton_lab.localization import _

Array = NDArray[Any]
_FACTORS = 2
_WAIT = "ttng.warp_group_dot_wait"
# Operations that may use an accumulator whose product is pending: the next product, the wait, and control flow.
_PASSES_ON = traits.names(lambda trait: trait.dialect == "scf" or trait.name.startswith("ttng.warp_group_dot"))


@impl("ttng.warp_group_dot")
def warp_group_dot(frame: Frame, op: Op, a: Value, b: Value, accumulator: Value, *flag: Value) -> Value:
    """``a @ b + accumulator``; ``flag``: whether the accumulator counts."""
    dtype = dtype_of(frame.result_type(op))
    shared = tuple(one for one in (a, b) if isinstance(one, SharedView))
    asynchronous = frame.machine.asynchronous
    # What a product takes from registers was loaded by the time that it ends: TMA may write there then without a fence.
    moment = asynchronous.moments
    effect = partial(_forget, frame, moment) if len(shared) < _FACTORS else None
    asynchronous.add(PendingWork(op, "products", frame.programs, reads=shared, effect=effect))
    asynchronous.commit("products", frame.programs, op)
    x, y = (
        one.read(frame.programs) if isinstance(one, SharedView) else frame.spread(op, k, one)
        for k, one in enumerate((a, b))
    )
    start = frame.elements(op, 2, accumulator)
    if flag:
        used = truth(frame, op, 3, flag[0]).reshape(-1, *(1,) * (start.ndim - 1))
        if not used.all():
            start = np.where(used, start, np.zeros(1, start.dtype))
    if not op.attributes.get("isAsync"):
        asynchronous.wait("products", frame.programs, 0, op)
    return product_of(x, y, start, dtype)


def product_of(x: Array, y: Array, start: Array, dtype: np.dtype[Any]) -> Array:
    """``x @ y + start`` as ``dtype``."""
    if dtype.kind == "i":
        whole: Array = integer_product(x, y, dtype) + start
        return whole
    return product_sum(widen(x), widen(y), widen(start), x.dtype).astype(dtype, copy=False)


def _forget(frame: Frame, moment: int, chosen: Array) -> None:
    frame.machine.asynchronous.forget_reads(frame.programs[chosen], moment)


@impl(_WAIT)
def warp_group_dot_wait(frame: Frame, op: Op, *inputs: Value) -> Any:
    left = op.attributes["pendings"]
    frame.machine.asynchronous.wait("products", frame.programs, left, op)
    if left:
        _refuse_uses(frame, op)
    return inputs[0] if len(inputs) == 1 else inputs


def _refuse_uses(frame: Frame, op: Op) -> None:
    """Raise KernelError if something computes with what this wait yields, while the product that yields it is pending.

    The products of one accumulator end in their order, so that of the last one is pending if any is.
    """
    asynchronous = frame.machine.asynchronous
    if not any(work.op.results for work in asynchronous.pending("products", frame.programs)):
        return
    for user in _uses(frame.routine.function, op):
        name = frame.routine.function.names[op.results[0]] or _("the accumulator")
        told = _("{name} is used while its product is still running").format(name=name)
        hint = _("Wait for the product first: warpgroup_mma_wait(0, ...).")
        raise KernelError(told, user, frame.programs, rule=USED_BEFORE_WAIT, hint=hint)


def _uses(function: Function, op: Op) -> Iterator[Op]:
    """What computes with the results of a wait before all products are waited for: after it in its block, in the next
    turn of its loop, and where that hands the results on."""
    numbers = set(op.results)
    for parent, block, holder in reversed(_around(function.body.blocks, op)):
        turns = [(numbers, block.ops[block.ops.index(holder) + 1 :])]
        given = [place for place, number in enumerate(block.ops[-1].operands) if number in numbers]
        if parent is not None and parent.name == "scf.for":  # its first argument is the counter
            turns.append(({block.arguments[1 + place] for place in given}, block.ops))
        for held, ops in turns:
            for user in (inner for one in ops for inner in one.walk()):
                if user.name == _WAIT and not user.attributes["pendings"]:
                    return
                if user.name not in _PASSES_ON and held & set(user.operands):
                    yield user
        if parent is None or traits.of(parent.name).dialect != "scf" or parent.name == "scf.while":
            return
        numbers = {parent.results[place] for place in given}


def _around(blocks: Sequence[Block], op: Op, parent: Op | None = None) -> list[tuple[Op | None, Block, Op]]:
    """The blocks that an operation is in, outer before inner: whose each is, and its operation that holds ``op``."""
    for block in blocks:
        for holder in block.ops:
            if holder is op:
                return [(parent, block, holder)]
            for region in holder.regions:
                inner = _around(region.blocks, op, holder)
                if inner:
                    return [(parent, block, holder), *inner]
    return []
