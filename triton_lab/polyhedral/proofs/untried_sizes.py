"""What is proved of the sizes that were not tried: for sliders, and for answers that are right at all sizes tried."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.launch.assumption import is_quantity, parsed
from triton_lab.launch.launch import Launch
from triton_lab.localization import _
from triton_lab.polyhedral.proofs.proof import PROVED, REFUTED, AccessProof, Proof
from triton_lab.polyhedral.proofs.prove import proof_of
from triton_lab.polyhedral.proofs.unrun_kernels import alike

# The most launches from which assumptions are drawn.
_MOST_LAUNCHES = 8
# More sizes are not named.
_MOST_NAMES = 3


@dataclass(frozen=True)
class UntriedSizes:
    """A proof of a kernel whose launches are right, and its access that is ``wrong`` for other sizes, if there is one.

    ``text`` says it on one line, "" if it is not known.
    """

    proof: Proof
    wrong: AccessProof | None

    @property
    def text(self) -> str:
        if self.wrong is not None:
            return _("right for the sizes tried; wrong for {sizes}").format(sizes=sizes_text(self.wrong))
        if not self.proof.accesses or any(one.outcome != PROVED for one in self.proof.accesses):
            return ""
        names, told = self.proof.parameters, _("in bounds for every size")
        if 1 <= len(names) <= _MOST_NAMES:
            told = _("in bounds for every {names}").format(names=", ".join(names))
        unusual = [one.text for one in self.proof.assumptions if one.origin != "grid" and not _is_usual(one.text)]
        if unusual:
            return _("{told}, as long as {conditions}").format(told=told, conditions=", ".join(unusual))
        return told


def _is_usual(assumption: str) -> bool:
    """Whether it is a bound, or says that two sizes are equal; others are chosen to fit the launches."""
    condition = parsed(assumption)
    right = condition.right[0]
    one = isinstance(right, ast.Constant) and right.value == 1
    return condition.relation == ">=" or is_quantity(right) or one


def sizes_text(wrong: AccessProof) -> str:
    """The sizes, and the program and the lane in brackets: ``n = 0 (program 0, lane 0)``."""
    sizes = ", ".join(f"{name} = {value}" for name, value in wrong.sizes.items())
    return f"{sizes} ({wrong.reason.removeprefix(f'{sizes}, ')})"


def untried_sizes(launches: Sequence[Launch], seconds: float) -> UntriedSizes | None:
    """What is proved of the last launch's kernel with its constants, in at most about ``seconds``.

    ``launches`` are those that were tried. Later launches are not compared with the assumptions, as they are after
    `prove`. None if one failed, or if there is no proof.
    """
    mine = [one for one in launches[::-1] if one.kernel == launches[-1].kernel]
    # Triton compiles a size of 1 as a constant: other launches say more.
    tried = alike(sorted(mine, key=lambda one: sum(a.kind == "constexpr" for a in one.arguments)))[:_MOST_LAUNCHES]
    if any(one.error is not None for one in tried):
        return None
    try:
        proof = proof_of(tried, (), seconds, True, True)
    except ValueError:  # a kernel that cannot be walked
        return None
    counts = _counts(proof)
    wrong = next((one for one in proof.accesses if one.outcome == REFUTED and set(one.sizes) <= counts), None)
    return UntriedSizes(proof, wrong)


def _counts(proof: Proof) -> set[str]:
    """The parameters that count the elements of a tensor, or its rows.

    Other sizes, such as a stride, may depend on these where the kernel is launched: nothing is told of them.
    """
    conditions = [parsed(one.text) for one in proof.assumptions]
    extents = (one for one in conditions if one.relation == "==" and re.search(r"\.(numel\(|shape\[)", one.subject))
    return {one.right[0].id for one in extents if isinstance(one.right[0], ast.Name)}
