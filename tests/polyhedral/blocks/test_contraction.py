"""Which nests are one sum of products."""

from __future__ import annotations

import pytest

from triton_lab.polyhedral import scop
from triton_lab.polyhedral.blocks.contraction import _is_one, _shape_of

IJK = "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) for (int k = 0; k < 8; k++) "
IJ = "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) "
THEN_K = "for (int k = 0; k < 8; k++) "


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (IJK + "C[i][j] += A[i][k] * B[k][j];", ("k", "A", "B", None)),
        (IJK + "C[i][k] += A[j][k] * B[i][j];", ("j", "A", "B", None)),
        (IJK + "C[j][k] += A[i][k] * A[j][i];", ("i", "A", "A", None)),
        (IJ + "{ C[i][j] = 0; " + THEN_K + "C[i][j] += A[i][k] * B[k][j]; }", ("k", "A", "B", 0)),
        (IJ + "{ C[i][j] = -2.5; " + THEN_K + "C[i][j] += A[i][k] * B[k][j]; }", ("k", "A", "B", -2.5)),
        # The factors are no two loads, nothing or too much is summed, or it is no sum of products.
        (IJK + "C[i][j] += A[i][k] * 2;", None),
        (IJK + "C[i][j] += 2 * A[i][k];", None),
        (IJK + "C[i][j] += A[i][k] * (B[k][j] + 1);", None),
        (IJK + "C[i][j] += A[i][k] + B[k][j];", None),
        (IJK + "C[i][j] += A[i][k];", None),
        (IJK + "C[i][j] -= A[i][k] * B[k][j];", None),
        (IJK + "C[i][j] = A[i][k] * B[k][j];", None),
        (IJK + "C[i] += A[i][k] * B[k][j];", None),
        (IJ + "C[i][j] += A[i][j] * B[j][i];", None),
        # It begins with something else than a number, or is not all there is.
        (IJ + "{ C[i][j] = D[i]; " + THEN_K + "C[i][j] += A[i][k] * B[k][j]; }", None),
        (IJ + "{ C[i][j] += 1; " + THEN_K + "C[i][j] += A[i][k] * B[k][j]; }", None),
        (IJ + "{ C[i][j] = 0; D[i][j] = 1; " + THEN_K + "C[i][j] += A[i][k] * B[k][j]; }", None),
        (IJ + "{ " + THEN_K + "C[i][j] += A[i][k] * B[k][j]; C[i][j] = 0; }", None),
    ],
)
def test_a_sum_of_products_has_its_shape(text: str, found: tuple[str, str, str, float | None] | None) -> None:
    shape = _shape_of(scop(text))
    assert (shape and (shape.iterator, shape.left.array, shape.right.array, shape.first)) == found


@pytest.mark.parametrize(
    ("text", "one"),
    [
        (IJK + "C[i][j] += A[i][k] * B[k][j];", True),
        (IJK + "C[i][j] += C[i][k] * B[k][j];", False),
        (IJK + "C[i][j] += A[i][k] * C[k][j];", False),
        (IJK + "C[i][j] += A[i / 2][k] * B[k][j];", False),
        (IJ + "for (int k = -3; k < 5; k++) C[i][j] += A[i][k + 3] * B[k + 3][j];", False),
        (IJ + "{ C[i][j] = 0; " + THEN_K + "C[i][j] += A[i][k] * B[k][j]; }", True),
        (IJ + "{ C[j][i] = 0; " + THEN_K + "C[i][j] += A[i][k] * B[k][j]; }", False),
        (IJ + "{ if (i < 5) C[i][j] = 0; " + THEN_K + "C[i][j] += A[i][k] * B[k][j]; }", False),
        (IJ + "{ C[i][j] = 0; for (int k = 0; k < i; k++) C[i][j] += A[i][k] * B[k][j]; }", True),
        ("for (int i = 0; i < 8; i++) { C[i] = 0; for (int k = 0; k < 8; k++) C[i] += A[i][k] * B[k]; }", True),
        ("for (int i = 0; i < 8; i++) { C[0] = 0; for (int k = 0; k < 8; k++) C[i] += A[i][k] * B[k]; }", False),
    ],
)
def test_it_is_one_where_a_register_could_hold_it(text: str, one: bool) -> None:
    nest = scop(text)
    shape = _shape_of(nest)
    assert shape is not None and _is_one(nest, shape) == one
