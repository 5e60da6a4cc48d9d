"""What of shared machines the choice of a target asks for: what `providers` finds, by name."""

from __future__ import annotations

PROVIDED = {"shared_driver": "triton_lab.remote.cluster_target:shared_driver"}
