"""Blocks that a kernel loads and never uses, by its source: the compiler leaves such loads out."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Sequence

from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.analysis.source_nodes import place_of
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.localization import N_, _


class UnusedLoadRule(WholeRule):
    """A block is loaded into a variable that the kernel never uses."""

    kind = "unused-load"
    severity = NOTE
    subject = N_("loads that are not used")
    summary = N_("A block is loaded into a variable that the kernel never uses.")
    why = N_(
        "Probably the result should depend on the value: for example, a bias is not added, or a mask is not applied. "
        "The compiler removes such a load, so no picture shows it."
    )
    remedy = N_("Use the variable, or remove the line.")
    intended = N_("If the line is a rest of an earlier version of the kernel.")
    blind = N_("Only the kernel itself is read, not the functions that it calls.")
    concerned = Concerned.ALL

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each variable."""
        launch = evidence.launch
        for node, name in _unused(launch.source):
            yield Finding(
                self.kind,
                _("`{name}` is loaded and never used").format(name=name),
                _("Use it, or remove the line: the compiler removes this load."),
                kernel=launch.kernel,
                op=None,
                **place_of(launch, node),
            )


def _unused(source: str) -> Iterator[tuple[ast.stmt, str]]:
    """The assignments of ``tl.load(...)`` to names that the function does not read."""
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:
        return
    nodes = list(ast.walk(tree))
    read = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    read |= {each.target.id for each in nodes if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name)}
    for each in nodes:
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(value=owner, attr="load"))):
                if name not in read and not name.startswith("_") and ast.unparse(owner) in ("tl", "triton.language"):
                    yield each, name
