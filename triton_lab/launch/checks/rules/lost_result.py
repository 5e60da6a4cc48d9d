"""Kernels that return their result and store nothing: a launch returns nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from triton_lab.backend.source.access_source import first_line
from triton_lab.ir import effects, traits
from triton_lab.launch.checks.analysis.finding_text import named_file
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.localization import N_, _, translated

_MEND = N_(
    "A launch returns nothing. Pass a tensor for the result (out = torch.empty_like(x)), and tl.store the result there."
)
# Other effects that a kernel may have instead of storing.
_SEEN = traits.names(lambda trait: trait.kind is traits.Kind.REPORTS and trait.dialect == "tt")


class LostResultRule(WholeRule):
    "A kernel stores nothing and returns a value, but a launch returns nothing."

    kind = "lost-result"
    severity = WARNING
    subject = N_("results that are returned and not stored")
    summary = N_("A kernel stores nothing and returns a value, but a launch returns nothing.")
    why = N_(
        "A launch has no result. The compiler removes all code whose values are not stored, so the kernel does nothing."
    )
    remedy = N_("Pass a tensor for the result, `out = torch.empty_like(x)`, and `tl.store` the result there.")
    intended = N_("Never: remove the `return`, or the kernel.")
    blind = N_("A kernel that stores one value and returns another is not reported.")
    concerned = Concerned.ALL

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """At most one finding, at the first ``return`` with a value."""
        launch = evidence.launch
        source = launch.compiled[0]
        operations = launch.executable.plan.walk()
        if source is None or any(op.name in _SEEN or effects.writes(op) for op in operations):
            return
        kernel = source.fn
        tree = ast.parse(kernel.src)
        node = next((one for one in ast.walk(tree) if isinstance(one, ast.Return) and _says_something(one)), None)
        if node is None:
            return
        number, text = node.lineno, kernel.raw_src[0]
        raw = kernel.raw_src[first_line(kernel) - kernel.starting_line_number + number - 1].rstrip("\n")
        column = node.col_offset + len(text) - len(text.lstrip())
        value = ast.get_source_segment(kernel.src, node) or ast.unparse(node)
        yield Finding(
            self.kind,
            _("the kernel stores nothing, and its return value is lost: `{value}`").format(value=value),
            translated(_MEND),
            line=first_line(kernel) + number - 1,
            column=column,
            excerpt=(raw, " " * column + "^" * (len(raw) - column)),
            kernel=launch.kernel,
            file=named_file(launch, launch.file),
        )


def _says_something(node: ast.Return) -> bool:
    return node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None)
