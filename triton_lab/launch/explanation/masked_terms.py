"""Relation: masked-off lanes of loads add nothing to the sums, extremes and products of lanes that were read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.launch.explanation.relation import BROKEN, HELD, MOST, Relation
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.explanation.observed_run import ObservedRun

KIND = "masked lanes"


def relations(run: ObservedRun) -> Iterator[Relation]:
    """One relation for each reduction and product that masked-off lanes reach."""
    ops = {op.index: op for op in run.values.plan.walk()}
    for index, terms in sorted(run.masked.terms.items()):
        if not terms.results:
            continue
        line = run.values.line(ops[index])
        name = "tl.dot" if ops[index].name == "tt.dot" else _("the reduction")
        statement = _("masked-off lanes change nothing in {name} on line {line}").format(name=name, line=line)
        why = ""
        if terms.bad:
            value = "" if terms.term is None else _(", the first as {term}").format(term=f"{terms.term:.6g}")
            why = _("lanes that a load masks off count{value}: give that load the neutral value as other=").format(
                value=value
            )
        programs = np.unique(np.array(terms.programs, np.int64))[:MOST]
        yield Relation(
            KIND,
            statement,
            BROKEN if terms.bad else HELD,
            None,
            line,
            terms.results,
            terms.bad,
            "result",
            programs,
            terms.term,
            None,
            why,
        )
