"""Compares the model of a launch with its record: every address and every mask."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.localization import _
from triton_lab.messages import count as counted
from triton_lab.polyhedral.kernels.access_instances import AccessInstances, Ints, absolute, instances
from triton_lab.polyhedral.kernels.access_statement import KernelStatement
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import SymbolicNumber
from triton_lab.polyhedral.kernels.verification import Check, Verification

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.launch import Launch
    from triton_lab.polyhedral.kernels.launch_scop import KernelScop

# At most so many lanes of an access are compared; larger accesses are sampled.
_LANES = 1 << 20


def verify(scop: KernelScop) -> Verification:
    """Compare the model with the record; the result is a `Verification`."""
    launch, statements = scop.launch, scop.kernel_statements
    assert launch is not None
    if scop.parameters:
        raise ValueError(_("the general scop has no record. Verify the launch's scop: scop(launch).verification"))
    if launch.dropped:
        return Verification((), (_("the record is incomplete: {dropped}").format(dropped=launch.dropped),))
    if launch.error is not None:
        return Verification((), (_("the launch failed: {value}").format(value=launch.error.__class__.__name__),))
    recorded = {access.op: access for access in launch.accesses}
    checks, unchecked = [], []
    for op in dict.fromkeys(s.op for s in statements):
        same = [s for s in statements if s.op == op]
        if len(same) > 1:
            unchecked.append(_("line {line}: the access is called from several places").format(line=same[0].line))
        else:
            checks.append(_check(same[0], recorded.get(op), launch))
    return Verification(tuple(checks), tuple(unchecked))


def _check(statement: KernelStatement, access: Access | None, launch: Launch) -> Check:
    touch = statement.touch
    assert touch is not None and touch.path is not None
    programs = _sample(launch.programs, prod(touch.shape) * prod(int(max(1, r.most)) for r in touch.path.rounds))
    found = instances(touch, launch.grid, programs)
    times = 0 if access is None else access.iterations
    unsure = touch.path.unknown is not None or touch.path.repeats is not None
    total = sum(int(access.executed(k).sum()) for k in range(times)) if access and unsure else len(found)
    if len(programs) < launch.programs and not unsure:
        total = len(instances(touch, launch.grid, np.arange(launch.programs, dtype=np.int64)))
    within = not statement.exact
    if access is None:
        difference = "" if unsure or not len(found) else _("missing in the record")
        return Check(statement.name, statement.line, len(found), total, within, difference)
    if unsure:
        # Once in the model, any number of times in the record.
        compared, difference = _repeated(found, access, times, programs, launch)
    else:
        compared, difference = _one_by_one(found, access, times, programs, launch)
    return Check(statement.name, statement.line, compared, total, within, difference)


def _sample(programs: int, lanes: int) -> Ints:
    """All programs, or a random sample."""
    most = max(1, _LANES // max(1, lanes))
    if programs <= most:
        return np.arange(programs, dtype=np.int64)
    return np.sort(np.random.default_rng(0).choice(programs, most, replace=False)).astype(np.int64)


def _one_by_one(found: AccessInstances, access: Access, times: int, programs: Ints, launch: Launch) -> tuple[int, str]:
    compared = 0
    for number in range(times):
        part = found.take(found.number == number)
        taking = programs[access.executed(number).reshape(launch.programs)[programs]]
        if not np.array_equal(part.programs, taking):
            return compared, _("differ: other programs take part in execution {number}").format(number=number)
        difference = _compare(part, access, number, launch)
        if difference:
            return compared, difference
        compared += len(part)
    if len(found) and int(found.number.max()) >= times:
        modelled = counted(int(found.number.max()) + 1, "execution")
        return compared, _("differ: the model has {modelled}, the record {times}").format(
            modelled=modelled, times=times
        )
    return compared, ""


def _repeated(found: AccessInstances, access: Access, times: int, programs: Ints, launch: Launch) -> tuple[int, str]:
    """Compare each recorded execution with the model's only one, whose address is the same each time."""
    assert found.touch.path is not None
    if found.touch.path.rounds:
        return 0, ""  # the record does not say in which iteration an execution ran
    compared = 0
    for number in range(times):
        taking = np.flatnonzero(access.executed(number).reshape(launch.programs))
        taking = taking[np.isin(taking, programs)]
        chosen = np.isin(found.programs, taking)
        if not np.isin(taking, found.programs).all():
            return compared, _("differ: other programs take part in execution {number}").format(number=number)
        difference = _compare(found.take(chosen), access, number, launch)
        if difference:
            return compared, difference
        compared += int(chosen.sum())
    return compared, ""


def _compare(part: AccessInstances, access: Access, number: int, launch: Launch) -> str:
    """The difference between the model and execution ``number`` of the record, in words; "" without one."""
    touch = part.touch
    assert isinstance(touch.pointer, SymbolicNumber)
    pointer = absolute(touch.pointer, launch)
    addresses, active = access.address(number), access.mask(number)
    for some in part.parts():
        there, on = addresses[some.programs], active[some.programs]
        predicted = some.active()
        same_mask = (on <= predicted).all() if touch.mask.unknown is not None else (on == predicted).all()
        if not same_mask:
            return _("differ in the mask of execution {number}").format(number=number)
        if not np.array_equal(some.evaluate(pointer), there):
            return _("differ in the addresses of execution {number}").format(number=number)
    return ""
