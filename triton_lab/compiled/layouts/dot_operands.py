"""Layouts of the operands of a matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.compiled.layouts import attribute_rules
from triton_lab.compiled.layouts.amd_matrix import AmdMfma, AmdWmma
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import Distributed
from triton_lab.compiled.layouts.layout_tile import Tile
from triton_lab.compiled.layouts.linear_layout import Linear
from triton_lab.compiled.layouts.nvidia_matrix import NvidiaMma, without
from triton_lab.compiled.layouts.register_layouts import Blocked
from triton_lab.localization import _
from triton_lab.messages import count

MOST_SIDE_BY_SIDE = 128  # numbers along k: far more than any instruction takes


@dataclass(frozen=True)
class DotOperand(Distributed):
    """``#ttg.dot_op``: the left (``op_idx`` 0) or right (1) operand of a product.

    ``parent`` is the layout of the result. A lane holds ``k_width`` adjacent numbers along k (0 where the parent is
    blocked).
    """

    mnemonic = "ttg.dot_op"
    name = "dot operand"

    op_idx: int
    parent: Distributed
    k_width: int = 0

    def __post_init__(self) -> None:
        attribute_rules.one_of("opIdx", self.op_idx, (0, 1))
        if not isinstance(self.parent, Blocked | NvidiaMma | AmdMfma | AmdWmma):
            raise LayoutError(
                _(
                    "the parent of a dot operand must be a blocked layout or one of a matrix instruction, "
                    "not a {getattr} layout"
                ).format(getattr=getattr(self.parent, "name", self.parent))
            )
        if self.k_width > MOST_SIDE_BY_SIDE:
            raise LayoutError(
                _("kWidth is {k_width}, but a thread has at most {numbers} in a row").format(
                    k_width=self.k_width, numbers=count(MOST_SIDE_BY_SIDE, "number")
                )
            )
        if isinstance(self.parent, Blocked):
            if self.k_width:
                raise LayoutError(_("kWidth must not be given where the parent is a blocked layout"))
            if self.parent.rank < 2:
                raise LayoutError(_("the parent of a dot operand needs two dimensions or more"))
        else:
            self.parent.operand(self.op_idx, self.k_width, (1,) * self.rank)

    @property
    def rank(self) -> int:
        return self.parent.rank

    def linear(self, shape: Sequence[int]) -> Linear:
        self.check(shape)
        if not isinstance(self.parent, Blocked):
            assert isinstance(self.parent, NvidiaMma | AmdMfma | AmdWmma)
            return self.parent.operand(self.op_idx, self.k_width, shape)
        k = self.rank - 1 if self.op_idx == 0 else self.rank - 2
        sizes = [shape[axis] if axis == k else size for axis, size in enumerate(self.parent.size_per_thread)]
        order = self.parent.order
        tile = Tile(self.rank).spread("register", sizes, order)
        tile.spread_but("lane", self.parent.threads_per_warp, order, k)
        tile.spread_but("warp", self.parent.warps_per_cta, order, k)
        return tile.fit(shape, order, without(self.parent.cga_layout, k))
