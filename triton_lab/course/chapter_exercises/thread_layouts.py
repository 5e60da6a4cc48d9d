"""Chapter 18: which thread holds which element, and shared memory without conflicts."""

from __future__ import annotations

from typing import Any

from triton_lab import messages
from triton_lab.course.exercise_kinds import Choice, Question
from triton_lab.localization import N_, _


def _layout(answer: Any, where: str, shape: tuple[int, ...]) -> str:
    """The reason why ``answer`` is no layout of that shape there; "" if it is one."""
    from triton_lab.compiled.layouts.layout import Layout

    if not isinstance(answer, Layout):
        return _("{answer} is not a layout. lab.layout(kind, shape, ...) makes one.").format(answer=repr(answer))
    if answer.where != where or answer.shape != shape or answer.bits != 32:
        return _(
            "The layout must be of {shape} in {where} with 32 bits per element; this one is of "
            "{shape2} in {where2} with {bits}."
        ).format(shape=shape, where=where, shape2=answer.shape, where2=answer.where, bits=answer.bits)
    return ""


def _rows_of_threads(answer: Any) -> str:
    told = _layout(answer, "registers", (128, 32))
    if told:
        return told
    if answer.linear.size("warp") != 4 or answer.linear.size("lane") != 32:
        return _("The layout must have four warps of 32 threads; this one has {sizes}.").format(
            sizes=answer.linear.sizes
        )
    for row in range(128):
        warp, lane = divmod(row, 32)
        held = answer.elements(warp=warp, lane=lane)
        if sorted(held) != [(row, column) for column in range(32)]:
            first = next((one for one in held if one[0] != row), None)
            what = (
                f"[{first[0]}, {first[1]}]"
                if first
                else _("only {elements} of its row").format(elements=messages.count(len(set(held)), "element"))
            )
            return _("Thread {thread} of warp {warp} must hold row {row} only, but holds {what}.").format(
                thread=lane, warp=warp, row=row, what=what
            )
    return ""


def _without_conflicts(answer: Any) -> str:
    from triton_lab.compiled.layouts.layout import layout

    told = _layout(answer, "shared memory", (64, 16))
    if told:
        return told
    if answer.kind.padding:
        return _("This needs more memory than the tile has. Use swizzling, not padding.")
    ways = {
        "rows": layout("blocked", (64, 16), size_per_thread=[1, 1], threads_per_warp=[2, 16], warps_per_cta=[4, 1]),
        "columns": layout("blocked", (64, 16), size_per_thread=[1, 1], threads_per_warp=[32, 1], warps_per_cta=[1, 4]),
    }
    for name, registers in ways.items():
        use = answer.access(registers)
        if use.conflicts:
            return _("A warp that reads {name} waits: {use}.").format(name=name, use=use)
    return ""


def _neighbours(elements: int, size: int, warps: int) -> int:
    """The neighbours of a thread: those that fill 16 bytes, if there are so many elements for each thread."""
    return min(16 // size, elements // (32 * warps))


EXERCISES = (
    Choice(
        "row_of_lane",
        N_("A row for each thread"),
        (
            N_("Four warps have 128 threads, one for each row. So put warps and threads along the rows."),
            N_("threads_per_warp is [32, 1] and warps_per_cta is [4, 1]: a warp has 32 rows."),
            N_("The remaining 32 elements are the row: size_per_thread=[1, 32]."),
        ),
        wrong=_rows_of_threads,
    ),
    Question(
        "neighbours_of_thread",
        N_("How many neighbours"),
        (
            N_("Two numbers limit it: the elements that fill 16 bytes, and the elements for each thread."),
            N_("8 warps are 256 threads. An int8 element has one byte."),
            N_("The smaller of 16 / 2 and 1,024 / 256; of 16 and 1,024 / 128; of 16 and 4,096 / 128."),
        ),
        right=lambda: (_neighbours(1024, 2, 8), _neighbours(1024, 1, 4), _neighbours(4096, 1, 4)),
        tell=lambda answer, right: _(
            "For each of the three compute how many elements fill 16 bytes, and how many there are for each thread. "
            "The smaller number is the answer."
        ),
    ),
    Choice(
        "swizzle_of_16",
        N_("A tile that is 16 wide"),
        (
            N_("A row has 16 words, so two rows fill the 32 banks. Which rows share banks?"),
            N_("Rows 0 and 1 lie in different banks already; only row 2 needs another order: two rows make a phase."),
            N_(
                'lab.layout("swizzled_shared", (64, 16), vec=1, per_phase=2, max_phase=...): as '
                "many as a row has words."
            ),
        ),
        wrong=_without_conflicts,
    ),
)
