"""A line that says of one axis what another says of the other one: each change of it is undone by its similar line.

The changes are made in the syntax tree, at every operation of the second line of each pair.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

import pytest
import torch
import triton
import triton.language as tl

from tests.launch.comparison.judgement import judged
from tests.launch.comparison.kernels import recorded
from triton_lab.launch.comparison.sources import tree_alignment
from triton_lab.launch.comparison.sources.similar_lines import changes_by_similar_lines

PAIRS = (
    ("iy = y * pitch + border - 2 * reach", "ix = x * pitch + border - 2 * reach"),
    ("rows = first_row + tl.arange(0, T) * step_row - edge", "cols = first_col + tl.arange(0, T) * step_col - edge"),
    ("sy = (oy + 0.5) * ratio_y - 0.5", "sx = (ox + 0.5) * ratio_x - 0.5"),
    ("tile_m = (pid // group) * BM + tl.arange(0, BM)", "tile_n = (pid // group) * BN + tl.arange(0, BN)"),
    ("uh = tl.maximum(oh * stride - pad, 0) // scale", "uw = tl.maximum(ow * stride - pad, 0) // scale"),
)
OTHER = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mod}


def function(*lines: str, known: str = "") -> ast.Module:
    """A function of these lines, which has arguments of all their names and of those in ``known``."""
    text = "\n    ".join(lines)
    every = ast.walk(ast.parse("\n".join([*lines, known])))
    names = {node.id for node in every if isinstance(node, ast.Name)} - {"tl"}
    return ast.parse(f"def kernel({', '.join(sorted(names))}):\n    {text}\n")


def changed_lines(line: str) -> Iterator[str]:
    """The line with one operation left out, on either side, or with another operator."""
    tree = ast.parse(line)
    count = sum(isinstance(node, ast.BinOp) for node in ast.walk(tree))
    for number in range(count):
        for kind in ("left", "right", "operator"):
            made = copy.deepcopy(tree)
            node = [each for each in ast.walk(made) if isinstance(each, ast.BinOp)][number]
            if kind == "operator":
                node.op = OTHER[type(node.op)]()
            else:
                for parent in ast.walk(made):
                    for name, value in ast.iter_fields(parent):
                        if value is node:
                            setattr(parent, name, getattr(node, kind))
                        elif isinstance(value, list) and any(each is node for each in value):
                            setattr(parent, name, [getattr(node, kind) if each is node else each for each in value])
            yield ast.unparse(made)


def size(line: str) -> int:
    nodes = ast.walk(ast.parse(line))
    return sum(isinstance(node, (ast.Name, ast.Constant)) and getattr(node, "id", "") != "tl" for node in nodes)


def lines_by_changes(model: str, line: str, known: str = "") -> set[str]:
    """What the second of two lines may be, by changes that the first one shows."""
    tree = function(model, line, known=known)
    found = set()
    for node, new, _like in changes_by_similar_lines(tree):
        if node.lineno == 3:
            before, after = ast.unparse(node), ast.unparse(new)
            start, end = node.col_offset, node.end_col_offset
            text = f"    {line}"
            assert ast.dump(ast.parse(text[start:end], mode="eval")) == ast.dump(ast.parse(before, mode="eval"))
            found.add(ast.unparse(ast.parse((text[:start] + f"({after})" + text[end:]).strip())))
    return found


@pytest.mark.parametrize(("model", "line"), [(one, two) for pair in PAIRS for one, two in (pair, pair[::-1])])
def test_each_change_is_undone(model, line):
    assert not lines_by_changes(model, line)
    right = ast.unparse(ast.parse(line))
    # Of less than two thirds of a line it cannot be told that it is like another one.
    changed = [one for one in changed_lines(line) if 3 * size(one) >= 2 * size(line)]
    assert len(changed) >= 5
    assert not [one for one in changed if right not in lines_by_changes(model, one, known=line)]


def test_names_that_differ_in_more_than_a_letter_or_word_are_not_alike():
    assert not lines_by_changes("top_edge = line * pitch + border", "far_side = gap * pitch - border")


@pytest.mark.parametrize("left_out", range(4))
def test_a_condition_of_one_axis_asks_for_the_other(left_out):
    asked = ["(y >= 0)", "(x >= 0)", "(y < H)", "(x < W)"]
    there = " & ".join(asked[:left_out] + asked[left_out + 1 :])
    tree = function("oy = at // OW", "y = oy + dy", "x = at % OW + dx", f"inside = {there}", known="OH, H, W, ox")
    more = {
        ast.unparse(new.right) for _node, new, _like in changes_by_similar_lines(tree) if isinstance(new, ast.BinOp)
    }
    assert ast.unparse(ast.parse(asked[left_out], mode="eval")) in more


def test_all_axes_asked_for_are_left_alone():
    tree = function("inside = (y >= 0) & (x >= 0) & (y < H) & (x < W) & (at < H * W)")
    assert not list(changes_by_similar_lines(tree))


@triton.jit
def nearest(src_ptr, dst_ptr, H, W, OH, OW, scale, shift, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    oy = at // OW
    ox = at % OW
    iy = tl.minimum(tl.maximum(oy * scale - shift, 0), H - 1)
    ix = tl.minimum(tl.maximum(ox * scale, 0), W - 1)
    tl.store(dst_ptr + at, tl.load(src_ptr + iy * W + ix, mask=at < OH * OW, other=0.0), mask=at < OH * OW)


def test_a_kernel_is_told_at_its_line():
    src, dst = torch.randn(9, 11), torch.empty(5, 6)
    launch = recorded(lambda: nearest[(1,)](src, dst, 9, 11, 5, 6, 2, 3, BLOCK=32))
    y, x = ((torch.arange(count) * 2 - 3).clamp(0, size - 1) for count, size in ((5, 9), (6, 11)))
    found = judged(launch, {"dst_ptr": src[y][:, x]}, {7}, nearest.src)
    assert found is not None and found.said == "first", found


def test_each_pair_of_parts_is_laid_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long sum whose first terms differ: without that its parts would meet on as many ways as there are paths."""
    met: list[tuple[int, int]] = []
    ways = tree_alignment._ways

    def counted(model, node, renaming, known):
        met.append((id(model), id(node)))
        return ways(model, node, renaming, known)

    monkeypatch.setattr(tree_alignment, "_ways", counted)
    terms = " + ".join(f"a{number}" for number in range(8))
    model, line = (ast.parse(f"{first} + {terms}", mode="eval").body for first in ("base * y", "base - x"))
    found = tree_alignment.laid(model, line, tree_alignment.Renaming({}, {("y", "x")}, frozenset("xy")))
    assert found.cost == 1 and len(met) == len(set(met))
