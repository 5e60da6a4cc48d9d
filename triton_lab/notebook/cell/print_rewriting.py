"""``print`` in kernels: f-strings become calls that Triton's front end accepts.

``print(f"x = {x:.2f}")`` is rewritten to ``print("x = {:.2f}", x)``: the prefix contains the format, which our printer
applies. On a GPU the prefix is printed as it stands, before the value.
"""

from __future__ import annotations

import ast

_LITERAL_BRACES = str.maketrans({"{": "{{", "}": "}}"})


def rewrite(source: str) -> str:
    """``source`` with the f-string prints of its kernels rewritten, line by line in place.

    Source that does not parse is returned as it is: Python reports its error.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    edits: list[tuple[int, int, str]] = []
    starts = _line_starts(source)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and any(_is_jit(d) for d in function.decorator_list):
            for node in ast.walk(function):
                text = _replacement(node)
                if text is not None and isinstance(node, ast.Call) and node.end_lineno and node.end_col_offset:
                    start = starts[node.lineno - 1] + _characters(source, node.lineno, node.col_offset)
                    end = starts[node.end_lineno - 1] + _characters(source, node.end_lineno, node.end_col_offset)
                    # The call may span lines: the text after it must stay on its line, and may share the line of its
                    # end.
                    edits.append((start, end, text[:-1] + "\n" * source.count("\n", start, end) + ")"))
    for start, end, text in sorted(edits, reverse=True):
        source = source[:start] + text + source[end:]
    return source


def _is_jit(decorator: ast.expr) -> bool:
    """Whether a decorator is ``jit``, ``triton.jit`` or ``triton.jit(...)``."""
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    name = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")
    return name == "jit"


def _replacement(node: ast.AST) -> str | None:
    """The text of a print with a plain prefix, for a print whose only argument is an f-string; else None."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"):
        return None
    if len(node.args) != 1 or not isinstance(node.args[0], ast.JoinedStr) or node.keywords:
        return None
    template = ""
    values: list[str] = []
    for part in node.args[0].values:
        if isinstance(part, ast.Constant):
            template += str(part.value).translate(_LITERAL_BRACES)
            continue
        if not isinstance(part, ast.FormattedValue):
            return None
        specification = ""
        if isinstance(part.format_spec, ast.JoinedStr):
            if not all(isinstance(piece, ast.Constant) for piece in part.format_spec.values):
                return None  # a computed width
            specification = ":" + "".join(
                str(piece.value) for piece in part.format_spec.values if isinstance(piece, ast.Constant)
            )
        template += "{" + specification + "}"
        values.append(ast.unparse(part.value))
    return f"print({', '.join([repr(template), *values])})"


def _line_starts(source: str) -> list[int]:
    starts = [0]
    for line in source.split("\n"):  # not `splitlines`: a page break in a string ends no line
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _characters(source: str, line: int, offset: int) -> int:
    """An offset in characters, from one in UTF-8 bytes as in the syntax tree."""
    text = source.split("\n")[line - 1]
    return len(text.encode()[:offset].decode())
