"""`Transactions`: the accesses of a launch's compiled kernel to global and to shared memory, one by one."""

from __future__ import annotations

import textwrap
from collections import Counter as Tally
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from triton_lab.compiled.architecture import Architecture
from triton_lab.compiled.compilation_text import aligned
from triton_lab.compiled.resource_facts import Metadata
from triton_lab.compiled.transactions.access_matching import chain_of, joined
from triton_lab.compiled.transactions.ptx_parser import Chain, Instruction, Ptx
from triton_lab.compiled.transactions.ptxas_code import PtxasCode
from triton_lab.compiled.transactions.shared_memory_accesses import SharedUse, shared_uses
from triton_lab.compiled.transactions.transfer import Transfer, total, transfer
from triton_lab.launch.access import Access
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.replay.execution_counts import Executed, depths, executed
from triton_lab.localization import N_, _, all_translated
from triton_lab.messages import access_noun, count, number

# By the kind of access. The counter of the whole pipe also counts global memory's conflicts with L1's banks.
CONFLICTS = {
    "load": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "store": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}

_HEADINGS = (
    N_("line"), N_("access"), N_("efficiency"), N_("requests"), N_("sectors"), N_("per request"), N_("moved as"),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class SharedLine:
    """All instructions on shared memory of one kind at one place of the source.

    ``line`` is the kernel's; ``times`` is how often a program's warps run each instruction, over all programs (None
    where unknown).
    """

    line: int | None
    kind: str
    uses: tuple[SharedUse, ...]
    times: tuple[int | None, ...]

    @property
    def wavefronts(self) -> int:
        """The wavefronts of the banks, over the launch."""
        return sum(int(use.wavefronts.sum()) * (times or 0) for use, times in zip(self.uses, self.times, strict=True))

    @property
    def conflicts(self) -> int:
        """The wavefronts above the ideal, which bank conflicts cause."""
        return sum(use.conflicts * (times or 0) for use, times in zip(self.uses, self.times, strict=True))

    @property
    def instructions(self) -> int:
        """The warp instructions, over the launch."""
        return sum(int((use.ideal > 0).sum()) * (times or 0) for use, times in zip(self.uses, self.times, strict=True))

    @property
    def worst(self) -> SharedUse:
        """The instruction with the most conflicts."""
        return max(self.uses, key=lambda use: use.conflicts)

    @property
    def unknown(self) -> int:
        """The instructions whose addresses depend on the kernel's data: their conflicts are not counted."""
        return sum(use.addresses is None for use in self.uses)


@dataclass(frozen=True, eq=False)
class Transactions:
    """Requests and sectors of every access to global memory, and bank conflicts of every access to shared memory.

    The machine code in ``stages`` is applied to the addresses that ``launch`` recorded in its ``accesses``.

    >>> found = launch.compile("sm_90").transactions
    >>> [(one.argument, one.requests, one.sectors) for one in found.transfers]
    [('x_ptr', 32, 125), ('y_ptr', 32, 125), ('out_ptr', 32, 125)]
    """

    launch: Recorded
    accesses: Sequence[Access] = field(repr=False)
    metadata: Metadata = field(repr=False)
    stages: Mapping[str, Any] = field(repr=False)

    @cached_property
    def ptx(self) -> Ptx:
        return Ptx(str(self.stages["ptx"]))

    @cached_property
    def executed(self) -> Executed:
        """How often each operation ran."""
        return executed(self.launch)

    @cached_property
    def transfers(self) -> list[Transfer]:
        """A transfer for each recorded access, in the order of the source."""
        held = self.metadata
        accesses = [access for access in self.accesses if access.completed.events]
        plan = self.launch.executable.plan
        found = joined(plan, accesses, depths(plan), str(self.stages["ttgir"]), PtxasCode.of(self.ptx, self.stages))
        return [transfer(one, self.launch.programs, held.warps, held.lanes) for one in found]

    @cached_property
    def shared(self) -> list[SharedLine]:
        """An entry for each place and kind of access to shared memory, in the order of the machine code."""
        held = self.metadata
        groups: dict[tuple[Chain, str], list[SharedUse]] = {}
        for use in shared_uses(self.ptx, held.warps * held.lanes):
            groups.setdefault((use.chain, use.kind), []).append(use)
        return [
            SharedLine(self.line(chain), kind, tuple(uses), tuple(self.times(use.instruction) for use in uses))
            for (chain, kind), uses in groups.items()
        ]

    # --- How often an instruction runs ----------------------------------------------------------------

    @cached_property
    def _by_chain(self) -> Mapping[Chain, Mapping[int, int]]:
        """How often the operations of a place ran, by the number of loops around them there."""
        found: dict[Chain, dict[int, int]] = {}
        for op in self.launch.executable.plan.walk():
            if op.index in self.executed.times:
                depth, chain = self.executed.depth[op.index], chain_of(op)
                for known in {chain, chain[:1]}:  # PTX may have the innermost place alone
                    by_depth = found.setdefault(known, {})
                    by_depth[depth] = max(by_depth.get(depth, 0), self.executed.times[op.index])
        return found

    @cached_property
    def _by_depth(self) -> Mapping[tuple[int, int], int]:
        """How often most instructions ran, by function of the machine code and loop depth."""
        tally: dict[tuple[int, int], Tally[int]] = {}
        for one in self.ptx.instructions:
            depth = self.ptx.depths[one.block]
            known = self._by_chain.get(one.chain, {}).get(depth)
            if known is not None:
                tally.setdefault((one.function, depth), Tally())[known] += 1
        return {place: votes.most_common(1)[0][0] for place, votes in tally.items()}

    def times(self, one: Instruction) -> int | None:
        """How often an instruction of PTX runs, over all programs; None where unknown."""
        depth = self.ptx.depths[one.block]
        known = self._by_chain.get(one.chain, {})
        if depth in known:
            return known[depth]
        if (one.function, depth) in self._by_depth:
            return self._by_depth[one.function, depth]
        return max(known.values(), default=self.launch.programs if depth == 0 else None)

    @cached_property
    def _lines(self) -> Mapping[Chain, int]:
        """The user's line for a place, and for every place called from it."""
        found: dict[Chain, int] = {}
        for op in self.launch.executable.plan.walk():
            line, chain = self.launch.lines.get(op.index), chain_of(op)
            if line is not None and chain:
                for known in (chain, chain[-1:], chain[:1]):
                    found.setdefault(known, line.line)
        return found

    def line(self, chain: Chain) -> int | None:
        """The user's line that a place of the machine code comes from, as the launch counts lines."""
        known = self._lines
        return next((known[one] for k in range(len(chain)) if (one := chain[k:]) in known), None)

    # --- Results --------------------------------------------------------------------------------------

    def counters(self) -> dict[str, int]:
        """Nsight Compute's counts, by the names of its metrics."""
        conflicts = {
            name: sum(line.conflicts for line in self.shared if line.kind == kind) for kind, name in CONFLICTS.items()
        }
        return {**total(self.transfers), **conflicts}

    @property
    def problems(self) -> list[str]:
        """What could not be counted, and why."""
        told = [
            _("line {line}, {kind}: {problem}").format(line=one.line, kind=one.access.kind, problem=one.problem)
            for one in self.transfers
            if one.problem
        ]
        told += [
            _(
                "line {line}, atomic: several lanes of a request change the same element, so a GPU asks for more "
                "sectors than the {sectors} counted; how many is not known"
            ).format(line=one.line, sectors=number(one.sectors))
            for one in self.transfers
            if one.collides
        ]
        told += [
            (
                _(
                    "line {line}: the banks of {unknown} of its instructions depend on the kernel's data, so "
                    "their conflicts are not counted"
                ).format(line=line.line, unknown=line.unknown)
            )
            for line in self.shared
            if line.unknown
        ]
        return [*told, *([self.executed.problem] if self.executed.problem else [])]

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Rows of a table: a header, then a row for each access."""
        yield all_translated(_HEADINGS)
        for one in self.transfers:
            yield (
                str(one.line),
                f"{access_noun(one.access.kind)} {one.argument or _('memory')}",
                f"{one.efficiency:.0%}" if one.moved else "-",
                f"{one.requests:,}",
                _("at least {count}").format(count=f"{one.sectors:,}") if one.collides else f"{one.sectors:,}",
                f"{one.sectors / one.requests:.3g}" if one.requests else "-",
                _moved_as(one),
            )
        for line in self.shared:
            yield (
                str(line.line or "-"),
                _("{access} shared memory").format(access=access_noun(line.kind)),
                count(line.conflicts, "bank conflict") if line.conflicts else _("no bank conflicts"),
                f"{line.instructions:,}",
                "",
                "",
                _("{bytes} a lane").format(bytes=count(line.worst.width, "byte")),
            )

    def __str__(self) -> str:
        from triton_lab.compiled.transactions.advice import worst

        found = worst(self)
        # Wrap between words: a notebook breaks long lines anywhere.
        sentences = [*([str(found)] if found else []), *self.problems]
        return "\n".join(
            [*aligned(list(self.rows())), *(line for one in sentences for line in textwrap.wrap(one, 100))]
        )

    def __repr__(self) -> str:
        return str(self)


def _moved_as(one: Transfer) -> str:
    if not one.width:
        return one.way
    told = _("{bytes} a lane, asynchronously") if one.way == "async copy" else _("{bytes} a lane")
    return told.format(bytes=count(one.width, "byte"))


def transactions(
    launch: Recorded,
    accesses: Sequence[Access],
    architecture: Architecture,
    metadata: Metadata,
    stages: Mapping[str, Any],
) -> Transactions:
    """The transactions of a compiled launch. Raises ValueError for a target whose transactions are not counted here."""
    if not architecture.is_nvidia:
        raise ValueError(
            _(
                "transactions are counted by NVIDIA's rules, but {name} is not an NVIDIA GPU. Compile "
                "for sm_80, sm_90, sm_100 or sm_120"
            ).format(name=architecture.name)
        )
    return Transactions(launch, accesses, metadata, stages)
