"""Passes of the compiler that change the result of a kernel."""

from __future__ import annotations

from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_


class MiscompiledRule(Rule):
    """A pass of the compiler changes the result. `compiled.run()` and `triton-lab check --passes` look for it."""

    kind = "miscompiled"
    severity = ERROR
    subject = N_("passes of the compiler")
    summary = N_("A pass of the compiler changes the kernel's result.")
    why = N_("The kernel is right, but a GPU computes another result: the compiler is wrong.")
    remedy = N_(
        "Avoid the pass: leave out the option that enables it, such as `flatten=True` or `num_stages`, or write the "
        "loop in another form. Report the kernel and the pass to Triton's developers."
    )
    intended = N_("Never for a kernel without races: its result has one value, up to rounding.")
    blind = N_(
        "TTIR and TTGIR are run after each pass, on the inputs of this launch only. Later stages, down to the "
        "machine code, are not run. Missing fences between proxies are not detected."
    )
    concerned = Concerned.ALL
