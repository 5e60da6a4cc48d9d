from __future__ import annotations

import pytest

from tests.backend.fake_device import FakeDevice
from triton_lab.backend import mirror


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> FakeDevice:
    """A device whose addresses the CPU cannot touch."""
    fake = FakeDevice()
    monkeypatch.setitem(mirror.devices, "fake", fake)
    return fake
