from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from triton.backends import Backend, backends

import triton_lab as lab
from tests.remote.fakegpu.compiler import FakeCompiler
from tests.remote.fakegpu.driver import FakeDriver
from triton_lab.backend.targets import active_target

if TYPE_CHECKING:
    from tests.remote.clusters import Shared


@pytest.fixture(scope="session")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """A scheduler and one worker, which offers a GPU."""
    from tests.remote.clusters import shared  # needs Dask

    with shared(tmp_path_factory.mktemp("school") / "cluster", "--resources", "GPU=1") as made:
        yield made


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is lost is given up soon; no test leaves a target or a connection behind."""
    from triton_lab.remote import cluster
    from triton_lab.remote.cluster_target import disconnect

    monkeypatch.setattr(cluster, "LOST", 3.0)
    monkeypatch.setitem(backends, "fakegpu", Backend(compiler=FakeCompiler, driver=FakeDriver))
    monkeypatch.setattr(active_target, "_shared", None)
    yield
    lab.target("auto")
    disconnect()
