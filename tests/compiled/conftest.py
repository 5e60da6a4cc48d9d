"""Kernels that are compiled in these tests, in a cache of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from triton_lab.compiled import compile, compiler_client


@pytest.fixture(scope="session", autouse=True)
def no_processes_are_left() -> Iterator[None]:
    yield
    compiler_client.dismiss_all()


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Iterator[None]:
    """Nothing has been compiled before."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    compile.forget()
    yield
    compile.forget()
