"""`CaseSearch`: tries smaller cases of a launch and keeps those that fail for the same reason."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.backend.source.muted_output import unheard
from triton_lab.backend.targets.loop_and_memory_limits import limits
from triton_lab.interpreter.kernel_errors import from_signal
from triton_lab.launch.recording.own_launch import recorded_launch
from triton_lab.launch.recording.progress_callback import breathe, within
from triton_lab.launch.shrinking.launch_case import LaunchCase
from triton_lab.launch.shrinking.linked_sizes import LinkedSizes, single_changes
from triton_lab.launch.shrinking.tensor_contents import TensorContents

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

# The most loop iterations, and the most seconds of checking, of one smaller launch.
STEPS, _SECONDS = 100_000, 5.0
# The most elements of contents of which parts are left out.
_ELEMENTS = 1 << 12


def ran(case: LaunchCase, steps: int | None) -> Launch | None:
    """The case, launched on new tensors on the CPU target; None if it cannot be launched at all."""
    try:
        return quietly(lambda: case.kernel[case.grid](*case.arguments(), **case.options), steps)
    except Exception as error:  # a smaller block may be one that Triton refuses
        if from_signal(error):
            raise
        return None


def quietly(make: Callable[[], object], steps: int | None) -> Launch | None:
    """The launch that ``make`` makes, with nothing printed and so many loop iterations; None if it makes none."""
    with unheard(), warnings.catch_warnings(action="ignore"), limits(max_steps=steps):
        return recorded_launch(make)


@dataclass
class CaseSearch:
    """The ``best`` case so far and its ``launch``, which fails at ``argument``.

    ``tries`` counts launches, at most ``most``; ``until`` is a moment of `time.monotonic`.
    """

    best: LaunchCase
    launch: Launch
    fails: Callable[[Launch], bool]
    argument: str | None
    linked_only: bool
    most: int
    until: float
    tries: int = 0

    @property
    def is_over(self) -> bool:
        """Whether the launches or the seconds are used up."""
        return self.tries >= self.most or time.monotonic() > self.until

    def run(self) -> None:
        """Make the case smaller until nothing makes it smaller."""
        before = float("inf")
        self._simplify()
        while self.best.size < before and not self.is_over:
            before = self.best.size
            self._scale()
            self._shrink_linked(ruled=True)
            self._shrink_linked(ruled=False)
            self._shrink_single()
            self._simplify()
        self._leave_out()

    def better(self, case: LaunchCase) -> bool:
        """Whether the case is smaller and fails all the same; then it is the best one."""
        if self.is_over or case.size >= self.best.size - 1e-9:
            return False
        breathe()
        self.tries += 1
        launch = ran(case, STEPS)
        with within(_SECONDS):
            if launch is None or not self.fails(launch):
                return False
        self.best, self.launch = case, launch
        return True

    def first(self, cases: Iterable[LaunchCase]) -> bool:
        """Whether one of the cases is better; the first such is kept."""
        return any(map(self.better, cases))

    def _scale(self) -> None:
        while not self.is_over:
            links = LinkedSizes.of(self.best)
            if not any(self.first(self._ways(links, chosen)) for chosen in links.scaled()):
                return

    def _shrink_linked(self, ruled: bool) -> None:
        packed = LinkedSizes.of(self.best, ruled).changed({}, packed=True)
        self.better(packed if self.launch.error is not None else replace(packed, tails=(0,) * len(packed.tails)))
        tried: set[int] = set()
        while not self.is_over:
            links = LinkedSizes.of(self.best, ruled)
            stops = self.linked_only or self.launch.error is not None
            left = [one for one in links.free if one not in tried and (ruled or not stops or links.is_named(one))]
            if not left:
                return
            tried.add(left[0])
            failed = 0
            for wanted in links.targets(left[0]):
                if self.first(self._ways(links, {left[0]: wanted})):
                    self._bisect(links, left[0], failed, wanted)
                    break
                failed = wanted

    def _ways(self, links: LinkedSizes, chosen: Mapping[int, int]) -> Iterator[LaunchCase]:
        """The case with other sizes: contents cut, with special elements moved, with integers that are sizes changed.

        Where the tensor that the launch fails at is cut, integers above its new size would fail in any kernel.
        """
        cut = links.changed(chosen)
        pieces = [one.contents for one in cut.tensors.values() if one.contents.pieces]
        integers = any(one.values.dtype.kind in "iu" for one in pieces)
        at = self.argument or ""
        if integers:
            yield links.changed(chosen, moved=True, sizes_in=True)
        if not integers or at not in cut.tensors or cut.tensors[at].shape == self.best.tensors[at].shape:
            yield cut
            if pieces:
                yield links.changed(chosen, moved=True)

    def _bisect(self, links: LinkedSizes, value: int, failed: int, worked: int) -> None:
        """The smallest value between one that did not fail and one that did."""
        if value in links.powers:
            return
        while worked - failed > 1 and not self.is_over:
            middle = (failed + worked) // 2
            if self.first(self._ways(links, {value: middle})):
                worked = middle
            else:
                failed = middle

    def _shrink_single(self) -> None:
        """Each size by itself; not where results are wrong: what is then not written would be wrong, too."""
        number = 0
        if self.linked_only:
            return
        while not self.is_over:
            changes = list(single_changes(self.best, self.argument, self.launch.error is not None))
            if number >= len(changes):
                return
            self.first(changes[number])
            number += 1

    def _simplify(self) -> None:
        """Simpler contents: of all tensors at once, then one by one."""
        cases = {name: one.contents for name, one in self.best.tensors.items() if one.contents.pieces}
        if len(cases) > 1:
            plain = {name: TensorContents.filled(one.values.shape, one.values.dtype) for name, one in cases.items()}
            if self.better(_with(self.best, plain)):
                return
        for name, contents in cases.items():
            self.first(_with(self.best, {name: simpler}) for simpler in contents.simpler())

    def _leave_out(self) -> None:
        """Give the most common value to as many elements as possible: halves, quarters, and so on (delta debugging)."""
        for name in list(self.best.tensors):
            one = self.best.tensors[name].contents
            if one.pieces <= 2 or one.values.size > _ELEMENTS:
                continue
            parts = 2
            while (special := self.best.tensors[name].contents.special).size and not self.is_over:
                parts = min(parts, special.size)
                some = np.array_split(special, parts)
                now = self.best.tensors[name].contents
                if self.first(_with(self.best, {name: now.without(part)}) for part in some):
                    parts = max(parts - 1, 2) if special.size > 1 else 1
                elif parts >= special.size:
                    break
                else:
                    parts = min(2 * parts, special.size)


def _with(case: LaunchCase, contents: dict[str, TensorContents]) -> LaunchCase:
    """The case with other contents; tensors of one storage that have them all get these."""
    tensors = {
        name: replace(one, contents=contents[name]) if name in contents else one for name, one in case.tensors.items()
    }
    return replace(case, tensors=tensors)
