"""Slips that people reported of Triton kernels, planted one at a time in right kernels, and what is said of them.

``python -m tests.launch.comparison.reported_slips [--class CLASS] [--set SET] [--processes N]`` asks `lab.compare` for
the cause of each and prints how many are named by class; ``--unseen`` is ``--set unseen``. The classes come from public
bug fixes and from learners' wrong answers; the kernels and their slips are written for this list.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import triton_lab as lab
from tests.launch.comparison.judgement import Judgement, compiled, counted, each_of, judged
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.reported.applications.codes_and_curves import CODES_AND_CURVES
from tests.launch.comparison.reported.applications.data import DATA
from tests.launch.comparison.reported.applications.fields import FIELDS
from tests.launch.comparison.reported.applications.gates_and_norms import GATES_AND_NORMS
from tests.launch.comparison.reported.applications.graphs import GRAPHS
from tests.launch.comparison.reported.applications.layers import LAYER_KERNELS
from tests.launch.comparison.reported.applications.objectives import OBJECTIVES
from tests.launch.comparison.reported.applications.recurrences import RECURRENCES
from tests.launch.comparison.reported.applications.science import SCIENCE
from tests.launch.comparison.reported.applications.serving import SERVING
from tests.launch.comparison.reported.applications.training import TRAINERS
from tests.launch.comparison.reported.arrays import ARRAYS
from tests.launch.comparison.reported.attention import ATTENTION
from tests.launch.comparison.reported.criteria import CRITERIA
from tests.launch.comparison.reported.elementwise import ELEMENTWISE
from tests.launch.comparison.reported.geometry import GEOMETRY
from tests.launch.comparison.reported.images import IMAGES
from tests.launch.comparison.reported.layers import LAYERS
from tests.launch.comparison.reported.losses import LOSSES
from tests.launch.comparison.reported.norms import NORMS
from tests.launch.comparison.reported.pixels import PIXELS
from tests.launch.comparison.reported.products import PRODUCTS
from tests.launch.comparison.reported.sequences import SEQUENCES
from tests.launch.comparison.reported.signals import SIGNALS
from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.reported.sparse import SPARSE
from tests.launch.comparison.reported.states import STATES
from tests.launch.comparison.reported.training import TRAINING
from tests.launch.comparison.reported.updates import UPDATES
from triton_lab.launch.comparison.launch_results import of_launch

KNOWN: tuple[Subject, ...] = (*NORMS, *ATTENTION, *PRODUCTS, *ELEMENTWISE, *LOSSES)
"""Those that the search for causes was developed on."""
UNSEEN: tuple[Subject, ...] = (*STATES, *IMAGES, *SPARSE, *TRAINING)
"""Those that it had not seen when it was measured with them."""
THIRD: tuple[Subject, ...] = (*CRITERIA, *LAYERS, *PIXELS, *ARRAYS)
"""Those that were written later, without a look at the search, to measure it once more."""
FOURTH: tuple[Subject, ...] = (*SIGNALS, *GEOMETRY, *SEQUENCES, *UPDATES)
"""Those that were written after the search copied programs, without a look at it."""
FIFTH: tuple[Subject, ...] = (*GATES_AND_NORMS, *CODES_AND_CURVES)
"""Of applications, written without a look at the search; what it missed of them was looked at afterwards."""
_APPLICATIONS: tuple[Subject, ...] = (*LAYER_KERNELS, *TRAINERS, *DATA, *SCIENCE)
SIXTH, SEVENTH = _APPLICATIONS[::2], _APPLICATIONS[1::2]
"""Likewise; of these only the counts of answers were looked at."""
EIGHTH: tuple[Subject, ...] = (*SERVING, *OBJECTIVES, *RECURRENCES, *GRAPHS, *FIELDS)
"""Of kinds that libraries have and tutorials rarely show, written without a look at the search."""
SETS = {
    "known": KNOWN, "unseen": UNSEEN, "third": THIRD, "fourth": FOURTH, "fifth": FIFTH, "sixth": SIXTH,
    "seventh": SEVENTH, "eighth": EIGHTH,
}  # fmt: skip
SUBJECTS = (*KNOWN, *UNSEEN, *THIRD, *FOURTH, *FIFTH, *_APPLICATIONS, *EIGHTH)


@dataclass(frozen=True)
class Reported:
    """One slip in its kernel."""

    subject: Subject
    slip: Slip

    @property
    def name(self) -> str:
        return f"{self.subject.kernel.fn.__name__}: {self.slip.kind}: {self.slip.new}"

    @property
    def text(self) -> str:
        """The kernel's text with the slip."""
        text: str = self.subject.kernel.src
        if text.count(self.slip.old) != 1:
            raise ValueError(f"{self.name}: {self.slip.old!r} stands {text.count(self.slip.old)} times in the kernel")
        return text.replace(self.slip.old, self.slip.new)

    @property
    def lines(self) -> set[int]:
        """The lines of the text that a right answer names."""
        text = self.subject.kernel.src
        return {text[: text.index(part)].count("\n") + 1 for part in (self.slip.old, *self.slip.also)}

    def judged(self) -> Judgement | None:
        """What is said of the slip; None if it does not show."""
        expected = self.subject.right
        if expected is None:
            results = of_launch(recorded(lambda: self.subject.run(self.subject.kernel)))
            expected = {name: results.arrays[name] for name in results.written}
        mistaken = compiled(self.subject.kernel, self.text)
        return judged(recorded(lambda: self.subject.run(mistaken)), expected, self.lines, self.text, certain=False)


def reported(subjects: tuple[Subject, ...] = SUBJECTS) -> Iterator[Reported]:
    """Each slip of each kernel."""
    for subject in subjects:
        for slip in subject.slips:
            yield Reported(subject, slip)


def agrees(subject: Subject) -> bool:
    """Whether the right kernel gives what is expected."""
    launch = recorded(lambda: subject.run(subject.kernel))
    return subject.right is None or lab.compare(launch, subject.right).verdict != "different"


def answer(number: int) -> tuple[str, str, Judgement | None]:
    """The class and the name of a slip by its number, and what is said of it."""
    one = list(reported())[number]
    return one.slip.kind, one.name, one.judged()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--class", dest="kind", help="slips of this class alone")
    parser.add_argument("--set", dest="chosen", choices=SETS, help="slips of this set alone")
    parser.add_argument(
        "--unseen", dest="chosen", action="store_const", const="unseen", help="the same as --set unseen"
    )
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    numbers = [
        number
        for number, one in enumerate(reported())
        if given.kind in (None, one.slip.kind) and one.subject in SETS.get(given.chosen, SUBJECTS)
    ]
    found = []
    for kind, name, judgement in each_of(answer, numbers, given.processes):
        if judgement is None:
            print(f"does not show: {name}", flush=True)
            continue
        found.append((kind, judgement))
        print(f"{judgement.said:11} {judgement.seconds:6.2f} s  {name} | {judgement.cause[:160]}", flush=True)
    print(counted(found))


if __name__ == "__main__":
    main()
