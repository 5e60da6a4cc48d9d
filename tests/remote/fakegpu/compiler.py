from __future__ import annotations

from tests.backend.fake_gpu import FakeCompiler as FakeCompiler
