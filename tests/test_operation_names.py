"""What operations do is declared in `ir.traits`; lists of their names elsewhere are counted, and may only become fewer.

A list is a set, tuple, list or dict that names two operations or more. Not counted are `ir/` and the engines' own
tables of implementations.
"""

from __future__ import annotations

import ast

from tests import sources
from triton_lab.ir import traits

REGISTRIES = ("ir/", "interpreter/ops/", "native/lowering/")
# How many are left in each file, and why.
LEFT = {
    "backend/targets/sm90_limits.py": (1, "words for operations in messages"),
    "compiled/kernel_layouts.py": (3, "words for what a layout's value is; Triton's text of a module, not a plan"),
    "compiled/lines/missing_instructions.py": (1, "names of instructions of all stages, PTX among them"),
    "interpreter/variants/arithmetic_variants.py": (6, "implementations in another arithmetic"),
    "interpreter/variants/function_variants.py": (2, "implementations as a GPU's"),
    "interpreter/variants/tensor_cores.py": (1, "implementations as a GPU's"),
    "interpreter/variants/thread_reductions.py": (1, "implementations as a GPU's"),
    "launch/checks/analysis/loop_sums.py": (1, "a negation and a choice, which a sum may pass through"),
    "launch/comparison/bounds/rounding_watcher.py": (2, "rules of bounds"),
    "launch/comparison/bounds/float_bounds.py": (4, "rules of bounds: functions by operation"),
    "launch/comparison/bounds/fold_bounds.py": (2, "rules of bounds: functions by operation"),
    "launch/comparison/interpreter_changes.py": (2, "implementations that are changed"),
    "launch/comparison/mutations/addressing.py": (1, "mistakes that are tried"),
    "launch/comparison/mutations/ir_query.py": (2, "mistakes that are tried"),
    "launch/comparison/mutations/operands.py": (1, "mistakes that are tried"),
    "launch/comparison/mutations/operators.py": (5, "mistakes that are tried, with their words"),
    "launch/comparison/numerics.py": (4, "approximations that are tried, by their words"),
    "launch/comparison/bounds/rounding_rules.py": (8, "functions by operation, and errors that depend on the operand"),
    "launch/comparison/bounds/whole_number_bounds.py": (1, "functions by operation"),
    "launch/saving/admission.py": (2, "measured costs, and shapes"),
    "messages.py": (1, "advice for each refusal"),
    "native/analysis/address_slice.py": (1, "a method for each kind of control flow"),
    "native/analysis/effect_order.py": (1, "the operands that the native engine guards"),
    "native/blocks/row_addresses.py": (3, "differences between neighbours"),
    "polyhedral/kernels/symbolic/operation_rules.py": (2, "rules of the symbolic walk"),
}


def lists_of_names(file: sources.Source) -> list[int]:
    """The lines of lists that name two operations or more."""
    found = []
    for node in file.nodes:
        if isinstance(node, ast.Dict):
            parts: list[ast.expr | None] = node.keys
        elif isinstance(node, (ast.Set, ast.Tuple, ast.List)):
            parts = [*node.elts]
        else:
            continue
        names = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if sum(traits.known(name) for name in names) >= 2:
            found.append(node.lineno)
    return found


def test_lists_of_operations_do_not_come_back() -> None:
    found = {
        file.name: lines
        for file in sources.python()
        if not file.name.startswith(REGISTRIES) and (lines := lists_of_names(file))
    }
    more = {name: lines for name, lines in found.items() if len(lines) > LEFT.get(name, (0, ""))[0]}
    assert not more, "declare in ir/traits what these operations have in common, and ask it"
    fewer = {name: len(found.get(name, ())) for name, (count, _) in LEFT.items() if len(found.get(name, ())) < count}
    assert not fewer, "good: lower the numbers in LEFT"
