"""Names the line that wastes most, the reason and the remedy, in one sentence each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triton_lab.compiled.layouts.bank_conflicts import BANKS, WORD
from triton_lab.compiled.transactions.sectors import SECTOR, Ints, of_lanes
from triton_lab.compiled.transactions.transfer import Transfer
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
        return f"Line {self.line} wastes most: {self.why}. {self.remedy}"


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
        f"its {line.kind}s of shared memory ask the banks {line.wavefronts:,} times where "
        f"{line.wavefronts - line.conflicts:,} would do, since lanes of a warp want different words of one bank",
        "Another block size or num_warps, or the operand loaded in the other order and turned with tl.trans, gives "
        "another layout.",
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
        f"of {one.moved:,} bytes that its {kind} of {one.argument or 'memory'} move, {one.wanted:,} "
        f"({one.efficiency:.0%}) are asked for, since {why}",
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
            f"each of its requests wants {count(one.width, 'byte')} of a sector of {SECTOR}",
            "One element per program costs a sector whatever one does: let a program do more, or keep such elements "
            "side by side and load several at once.",
        )
    if held > 1 and step == held * one.width:
        return (
            f"each lane moves {count(one.width, 'byte')} at a time of {held * one.width} that it holds side by side, "
            "as the compiler knows too little of the addresses or of the mask",
            "Let strides and the bound of the mask be multiples of 16 (pad them), or promise it with tl.multiple_of.",
        )
    if len(asked) < len(on) // 2:
        return (
            f"only {len(asked)} of {count(len(on), 'lane')} of a warp are on",
            "Take a block that the mask does not cut so small, or fewer warps.",
        )
    if step is not None and abs(step) == one.width:
        return _crooked(asked, one.width)
    if step is not None:
        return (
            f"neighbouring lanes are {count(abs(step), 'byte')} apart and take {count(one.width, 'byte')} each",
            "Let the last dimension of the block run along the tensor's dimension of stride 1, or make the tensor "
            "contiguous in the order in which it is read.",
        )
    pieces = 1 + int((np.diff(np.sort(asked)) != one.width).sum())
    if pieces <= len(asked) // 2:
        return (
            f"a warp's {count(len(asked), 'lane')} lie in {count(pieces, 'piece')} that are apart",
            f"Let a row of the block have at least {_A_SECTOR} side by side that begin at a multiple of {SECTOR}.",
        )
    return (
        "the lanes of a warp want addresses that are scattered",
        "Sort the indices, or load whole rows and choose from them with tl.gather.",
    )


def _crooked(asked: Ints, width: int) -> tuple[str, str]:
    before = int(asked.min()) % SECTOR
    if before:
        why = f"its requests begin {count(before, 'byte')} after the beginning of a sector"
    else:
        why = f"its requests end {count(-(int(asked.max()) + width) % SECTOR, 'byte')} before the end of a sector"
    return (
        why,
        f"Let rows begin and blocks end at multiples of {_A_SECTOR}: pad the tensor's rows, or shift the blocks.",
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
