"""Logarithms and quotients of a GPU, held to what an H100 made (``h100.npz``) and to exact ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from triton_lab.interpreter import logarithms

H100 = np.load(Path(__file__).with_name("h100.npz"))


def test_a_logarithm_is_that_of_a_gpu_to_the_bit() -> None:
    assert np.array_equal(logarithms.log(H100["log_x"]), H100["log_o"])


def test_a_logarithm_to_two_is_right_within_a_unit() -> None:
    x = np.exp2(np.random.default_rng(0).uniform(-148, 127, 5000)).astype(np.float32)
    for function, exact in ((logarithms.log2, np.log2), (logarithms.log, np.log)):
        right = exact(x.astype(np.float64))
        assert (np.abs(function(x) - right) <= np.spacing(np.abs(right).astype(np.float32))).all()


def test_logarithms_of_what_has_none() -> None:
    x = np.float32([0.0, -0.0, -1.0, -np.inf, np.nan, np.inf, 1.0])
    right = np.float32([-np.inf, -np.inf, np.nan, np.nan, np.nan, np.inf, 0.0])
    for function in (logarithms.log, logarithms.log2):
        assert np.array_equal(function(x), right, equal_nan=True)


def test_a_quotient_of_a_gpu_is_a_product_with_its_reciprocal() -> None:
    """Which is all that can be said: the bits of ``rcp.approx`` are not documented, only that it is off by a unit."""
    assert np.array_equal(H100["div_x"] * H100["rcp_o"], H100["div_o"])
    right = np.float32(1) / H100["div_y"]
    assert (np.abs(H100["rcp_o"].view(np.int32) - right.view(np.int32)) <= 1).all()
