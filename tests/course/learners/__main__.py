"""``python -m tests.course.learners [EXERCISE ...]``: which wrong answers are rejected, and why; which right ones pass.

Prints each wrong answer that passes, each whose message does not say what is wrong, and each right one that is
rejected; at last the table by class.
"""

from __future__ import annotations

import sys
from collections import Counter

from tests.course.learners.slips import CLASSES, Changes
from tests.course.learners.trial import rejected, right_answers, wrong_answers


def main() -> None:
    names = set(sys.argv[1:])
    tried, caught, explained = Counter[str](), Counter[str](), Counter[str]()
    for name, number, slip, answer in wrong_answers(names):
        message = rejected(name, answer)
        tried[slip.about] += 1
        if message is None:
            print(f"PASSES {name}[{number}] ({slip.about})\n{_changes(slip.changes)}", flush=True)
            continue
        caught[slip.about] += 1
        if slip.explained(message):
            explained[slip.about] += 1
        else:
            print(
                f"UNSAID {name}[{number}] ({slip.about}): {slip.cause}\n{_changes(slip.changes)}\n{_lined(message)}",
                flush=True,
            )
    count = accepted = 0
    for name, style, answer in right_answers(names):
        message = rejected(name, answer)
        count, accepted = count + 1, accepted + (message is None)
        if message is not None:
            print(f"REFUSED {name} ({style})\n{_lined(message)}", flush=True)
    for about in CLASSES:
        if tried[about]:
            print(f"{about:45} {tried[about]:4} wrong {caught[about]:4} rejected {explained[about]:4} explained")
    whole = tried.total(), caught.total(), explained.total()
    if whole[0]:
        print(f"{'all':45} {whole[0]:4} wrong {whole[1]:4} rejected {whole[2]:4} explained")
        print(f"{whole[1] / whole[0]:.1%} rejected, {whole[2] / max(1, whole[1]):.1%} of those with the true reason")
    print(f"{accepted} of {count} right answers accepted")


def _changes(changes: Changes) -> str:
    return "\n".join(f"    {old!r} -> {new!r}" for old, new in changes)


def _lined(message: str) -> str:
    return "\n".join(f"    | {line}" for line in message.split("\n")[:8])


if __name__ == "__main__":
    main()
