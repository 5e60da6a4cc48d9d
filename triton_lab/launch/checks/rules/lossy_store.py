"""Numbers that a store changes silently: Triton converts them to the type that the pointer points at.

0.7 becomes 0 in a tensor of integers, and 300 becomes 44 in one of int8. A conversion by ``.to`` is intended; in the
IR, an implicit one has the source location of the store itself. Only losses that occurred in this launch are reported.
Rounding to the next float is no loss, and `non_finite` reports what becomes infinite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from triton_lab.ir import effects
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import element, finding, others, program
from triton_lab.launch.checks.analysis.lossy_stores import ConvertingStore, LossWatcher, converting_stores, losses
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.localization import N_, _


class LossyStoreRule(Rule):
    """A store converts a number to the type of the tensor, which cannot represent it."""

    kind = "lossy-store"
    severity = WARNING
    subject = N_("numbers that a store changes")
    summary = N_("A store converts a number to the type of the tensor, which cannot represent it.")
    why = N_(
        "`tl.store` converts silently to the type that the pointer points at: 0.7 becomes 0 in a tensor of integers, "
        "and 300 becomes 44 in one of int8."
    )
    remedy = N_(
        "Give the output the type of the result, or convert on purpose: `.to(tl.int8)` after `tl.clamp` or a rounding."
    )
    intended = N_("If the loss is intended. Write the conversion, `.to(...)`, and the finding disappears.")
    blind = N_(
        "Only numbers that were lost in this launch are reported. Rounding to the next float is not a loss. A number "
        "that becomes infinite is `non-finite`."
    )
    concerned = Concerned.ONE
    mark = N_("changed by the store")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each store or atomic that changed a number."""
        launch = evidence.launch
        if launch.snapshot is None:
            return
        looked = losses(evidence)
        for op, lanes, count in looked.found:
            argument = evidence.owner(op)
            store, (given, kept) = looked.stores[op.index], looked.examples[op.index]
            text = _("{program} stores {given} to {element}, which becomes {kept} as {dtype}")
            if effects.updates(op):
                text = _("{program} updates {element} with {given}, which becomes {kept} as {dtype}")
            there = element(argument, int(lanes.address[0]))
            yield finding(
                launch,
                self.kind,
                text.format(
                    program=program(launch, int(lanes.program[0])),
                    given=given,
                    element=there,
                    dtype=store.target,
                    kept=kept,
                )
                + others(count),
                _mend(store, looked.beyond[op.index]),
                op=op,
                argument=argument,
                lanes=lanes,
                count=count,
                where=looked.found.where(op),
            )

    def watchers(self, evidence: Evidence) -> Mapping[str, Watcher | None]:
        """One that compares numbers before and after stores; None if no store converts."""
        stores = converting_stores(evidence)
        return {"lossy": LossWatcher(evidence, stores) if stores else None}


def _mend(store: ConvertingStore, beyond: bool) -> str:
    if store.target == "bool":
        return _(
            "This version of Triton stores a bool as an int8 and cuts off the fraction. Store the comparison x != 0."
        )
    if beyond:
        text = _(
            "A store converts to the tensor's type, here {source} to {target}, and a number that does not fit becomes "
            "another one. Use a wider type for the tensor, or clamp the number first. If this is intended, write "
            ".to(tl.{target})."
        )
    else:
        text = _(
            "A store converts to the tensor's type, here {source} to {target}, and cuts off the fraction. Make the "
            "tensor with dtype=torch.{source} (torch.zeros_like(x) takes the type of x), or round first: "
            "tl.floor(x + 0.5). If this is intended, write .to(tl.{target})."
        )
    return text.format(source=store.source, target=store.target)
