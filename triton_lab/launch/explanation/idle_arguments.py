"""Relation: each argument of the kernel has an effect on what it stores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from triton_lab.launch.comparison.mutations.ir_query import unused
from triton_lab.launch.explanation.relation import BROKEN, HELD, Relation
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

KIND = "arguments have effects"


def relations(launch: Launch) -> Iterator[Relation]:
    """One relation for the tensors of the launch; scalars without an effect may be there for other launches."""
    tensors = [one.name for one in launch.arguments if one.kind == "tensor"]
    idle = [name for name in unused(launch) if name in tensors]
    if tensors:
        yield Relation(
            KIND,
            _("each tensor is written, or the result depends on it"),
            BROKEN if idle else HELD,
            idle[0] if idle else None,
            None,
            len(tensors),
            len(idle),
            "tensor",
            why=_("nothing depends on {names}").format(names=", ".join(idle)) if idle else "",
        )
