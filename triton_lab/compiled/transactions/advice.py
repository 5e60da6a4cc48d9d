"""Names the line that wastes most, the reason and the remedy, in one sentence each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triton_lab.compiled.layouts.bank_use import BANKS, WORD
from triton_lab.compiled.transactions.sectors import SECTOR, Ints, of_lanes
from triton_lab.compiled.transactions.transfer import Transfer
from triton_lab.localization import _
from triton_lab.messages import count

if TYPE_CHECKING:
    from triton_lab.compiled.transactions.transactions import SharedLine, Transactions

_A_SECTOR = count(SECTOR, "byte")
_LINE = BANKS * WORD  # bytes that shared memory gives at a time
_ENOUGH = 0.9  # efficiency from which on a line counts as good


@dataclass(frozen=True)
class Reason:
    """``line`` wastes ``bytes`` of memory traffic over the launch: ``why``, and ``remedy``."""

    line: int | None
    bytes: int
    why: str
    remedy: str

    def __str__(self) -> str:
        return _("Line {line} wastes most: {why}. {remedy}").format(line=self.line, why=self.why, remedy=self.remedy)


def worst(found: Transactions) -> Reason | None:
    """The worst of all lines; None if none wastes much."""
    reasons = [reason for one in found.transfers if (reason := of_transfer(one)) is not None]
    reasons += [reason for line in found.shared if (reason := of_shared(line)) is not None]
    return max(reasons, key=lambda one: one.bytes, default=None)


def of_shared(line: SharedLine) -> Reason | None:
    """Why an access to shared memory has bank conflicts; None where it has none."""
    if not line.conflicts:
        return None
    return Reason(
        line.line,
        line.conflicts * _LINE,
        _(
            "its {kind}s of shared memory take {wavefronts} wavefronts, {wavefronts2} without bank "
            "conflicts: threads of a warp access different words of one bank"
        ).format(
            kind=line.kind, wavefronts=f"{line.wavefronts:,}", wavefronts2=f"{line.wavefronts - line.conflicts:,}"
        ),
        _(
            "To get another layout, change the block size or num_warps, or load the operand in the "
            "other order and transpose it with tl.trans."
        ),
    )


def of_transfer(one: Transfer) -> Reason | None:
    """Why an access moves more bytes than lanes use; None where it hardly does."""
    if not one.sectors or one.efficiency >= _ENOUGH or one.dealt is None:
        return None
    why, remedy = _told(one)
    kind = {"load": "loads", "store": "stores"}.get(one.access.kind, "atomics")
    return Reason(
        one.line,
        one.moved - one.wanted,
        (
            _(
                "its {kind} of {argument} move {moved} bytes, but use only {wanted} ({efficiency}), because {why}"
            ).format(
                kind=kind,
                argument=one.argument or "memory",
                moved=f"{one.moved:,}",
                wanted=f"{one.wanted:,}",
                efficiency=f"{one.efficiency:.0%}",
                why=why,
            )
        ),
        remedy,
    )


def _told(one: Transfer) -> tuple[str, str]:
    addresses, on = _sample(one)
    asked = addresses[on]
    apart = np.diff(asked)
    step = int(apart[0]) if len(apart) and (apart == apart[0]).all() else None
    held = _side_by_side(one)
    if step == 0 or (len(asked) == 1 and one.joined.operation is not None and one.joined.operation.linear is None):
        return (
            _("each request uses {bytes} of a sector of {sector}").format(
                bytes=count(one.width, "byte"), sector=SECTOR
            ),
            (
                _(
                    "One element per program costs a whole sector. Let a program handle more elements, or "
                    "store such elements side by side and load several at once."
                )
            ),
        )
    if held > 1 and step == held * one.width:
        return (
            (
                _(
                    "each thread moves {bytes} at a time of its {held} consecutive ones: the compiler does not "
                    "know enough about the addresses or the mask"
                ).format(bytes=count(one.width, "byte"), held=held * one.width)
            ),
            _("Make strides and the mask's bound multiples of 16 (pad them), or promise it with tl.multiple_of."),
        )
    if len(asked) < len(on) // 2:
        return (
            _("only {asked} of {threads} of a warp are active").format(
                asked=len(asked), threads=count(len(on), "thread")
            ),
            _("Choose a block with fewer masked-off lanes, or fewer warps."),
        )
    if step is not None and abs(step) == one.width:
        return _crooked(asked, one.width)
    if step is not None:
        return (
            _("neighbouring threads access {bytes} each, {bytes2} apart").format(
                bytes=count(one.width, "byte"), bytes2=count(abs(step), "byte")
            ),
            (
                _(
                    "Let the last dimension of the block run along the tensor's dimension of stride 1, or "
                    "make the tensor contiguous in the order in which you read it."
                )
            ),
        )
    pieces = 1 + int((np.diff(np.sort(asked)) != one.width).sum())
    if pieces <= len(asked) // 2:
        return (
            _("the {threads} of a warp access {pieces}").format(
                threads=count(len(asked), "thread"), pieces=count(pieces, "separate piece")
            ),
            _(
                "Give each row of the block at least {a_sector} side by side, beginning at a multiple of {sector}."
            ).format(a_sector=_A_SECTOR, sector=SECTOR),
        )
    return (
        _("the threads of a warp access scattered addresses"),
        _("Sort the indices, or load whole rows and select elements with tl.gather."),
    )


def _crooked(asked: Ints, width: int) -> tuple[str, str]:
    before = int(asked.min()) % SECTOR
    if before:
        why = _("its requests begin {bytes} after the start of a sector").format(bytes=count(before, "byte"))
    else:
        why = _("its requests end {bytes} before the end of a sector").format(
            bytes=count(-(int(asked.max()) + width) % SECTOR, "byte")
        )
    return (
        why,
        _("Begin rows and end blocks at multiples of {a_sector}: pad the tensor's rows, or shift the blocks.").format(
            a_sector=_A_SECTOR
        ),
    )


def _side_by_side(one: Transfer) -> int:
    """How many adjacent vectors a lane holds that its instructions move one by one."""
    assert one.dealt is not None
    first = one.dealt.positions[0, :, 0]
    elements = max(1, one.width // one.access.itemsize)
    found = 1
    while found < len(first) and first[found] - first[0] == found * elements:
        found += 1
    return found


def _sample(one: Transfer) -> tuple[Ints, NDArray[np.bool_]]:
    """The lanes of the request that wastes most, in the program that wastes most."""
    program = int(np.argmax(one.counts.moved - one.counts.wanted))
    found = one.lanes(program)
    assert found is not None and one.dealt is not None
    addresses, on = (each.reshape(1, -1, 1, each.shape[-1]) for each in found)
    each = [of_lanes(addresses[:, k : k + 1], on[:, k : k + 1], one.width)[:, 0] for k in range(addresses.shape[1])]
    wasted = [int(sectors * SECTOR - wanted) for _, sectors, wanted, _ in each]
    worst = int(np.argmax(wasted))
    return addresses[0, worst, 0], on[0, worst, 0]
