"""Launches that a GPU refuses for what a program needs, or that need more than was asked for."""

from __future__ import annotations

from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_


class ResourcesRule(Rule):
    """A program needs more than a GPU has, or than a limit allows. `triton-lab check --target sm_90` looks for it."""

    kind = "resources"
    severity = ERROR
    subject = N_("what a program needs of a GPU")
    summary = N_("A program needs more of a GPU than it has, or than a limit allows.")
    why = N_(
        "A GPU refuses to launch a kernel whose program needs more shared memory or threads than a multiprocessor has: "
        "Triton raises `OutOfResources`. Spilled registers lie in memory, and few programs at a time leave it idle."
    )
    remedy = N_("Use smaller blocks, a smaller `num_stages`, or another `num_warps`.")
    intended = N_("If the limit was chosen for another kernel.")
    blind = N_("Kernels are compiled for one target only, with the constants of this launch.")
    concerned = Concerned.ONE
