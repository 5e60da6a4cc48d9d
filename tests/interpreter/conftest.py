"""Kernels are compiled anew every time; oracles overflow in silence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import triton_lab as lab


@pytest.fixture(scope="package", autouse=True)
def compile_anew(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        yield


@pytest.fixture
def on_numpy() -> Iterator[None]:
    """For tests that look into NumPy's engine, whichever one the session runs on."""
    with lab.limits(engine="numpy"):
        yield


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Oracles meet infinities and NaN on purpose."""
    with np.errstate(all="ignore"):
        yield
