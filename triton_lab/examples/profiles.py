"""What Proton and Nsight Compute said of the kernels of `profiled_kernels` on a GPU: `profile` and `proton`.

The recording is ``profiles.json`` among the course's ``recordings/``; ``tests/gpu/course_profiles.py`` made it. It has
the figures of both profilers as they gave them, and the machine, the versions and the day.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from triton_lab.examples.gpu_recordings import FOLDER
from triton_lab.localization import _

FILE = "profiles.json"
UNNAMED = {"A": "softmax_16_warps", "B": "column_sums", "C": "softmax_4_warps", "D": "row_sums"}
"""Letter -> the launch whose report has no names: a riddle of the course."""

_MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class Figure:
    """One line of a report of Nsight Compute: ``value`` in ``unit``, a text if it is no number."""

    section: str
    name: str
    unit: str
    value: float | str


@dataclass(frozen=True)
class Profile:
    """The report of Nsight Compute about one launch. ``report["DRAM Throughput"]`` is a figure's value.

    ``advice`` is what Nsight Compute's rules said, with the section; ``machine`` says on what and when.
    """

    name: str
    kernel: str
    figures: tuple[Figure, ...]
    advice: tuple[tuple[str, str], ...]
    machine: Mapping[str, str]

    def __getitem__(self, name: str) -> float:
        """The number of the figure called ``name``. Raises KeyError, which lists names like it."""
        for figure in self.figures:
            if figure.name == name and not isinstance(figure.value, str):
                return figure.value
        names = [figure.name for figure in self.figures]
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.4) or names[:3]
        raise KeyError(
            _("the report has no figure {name}; is it {near}?").format(name=repr(name), near=" or ".join(near))
        )

    @property
    def microseconds(self) -> float:
        """The figure ``Duration``, whatever its unit is."""
        [duration] = [figure for figure in self.figures if figure.name == "Duration"]
        return self["Duration"] * _MICROSECONDS[duration.unit]

    def sections(self) -> list[str]:
        """The names of its sections."""
        return list(dict.fromkeys(figure.section for figure in self.figures))

    def section(self, name: str) -> Profile:
        """The report of one section only, such as ``"Occupancy"``. Raises KeyError, which lists the sections."""
        if name not in self.sections():
            raise KeyError(
                _("the report has no section {name}; it has {sections}").format(
                    name=repr(name), sections=", ".join(self.sections())
                )
            )
        chosen = tuple(figure for figure in self.figures if figure.section == name)
        return replace(self, figures=chosen, advice=tuple(one for one in self.advice if one[0] == name))

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield _("{name}: {kernel}").format(name=self.name, kernel=self.kernel)
        for section in self.sections():
            yield f"  {section}"
            for figure in self.figures:
                if figure.section == section:
                    yield f"    {figure.name:<38}{figure.unit:>14}{_told(figure.value):>15}"


@dataclass(frozen=True)
class ProtonScope:
    """A scope of Proton: ``seconds`` are those of one launch, ``bytes`` and ``flops`` what it must move and compute."""

    name: str
    kernel: str
    seconds: float
    runs: int
    bytes: float
    flops: float


@dataclass(frozen=True)
class ProtonTree:
    """The scopes of a run of Proton. ``tree["copy"]`` is one of them."""

    scopes: tuple[ProtonScope, ...]
    machine: Mapping[str, str]

    def __getitem__(self, name: str) -> ProtonScope:
        """The scope called ``name``. Raises KeyError, which lists the names."""
        found = {one.name: one for one in self.scopes}
        if name not in found:
            raise KeyError(
                _("there is no scope {name}; there are {names}").format(name=repr(name), names=", ".join(found))
            )
        return found[name]

    def __str__(self) -> str:
        lines = [f"{'avg_time/us':>12}{'tbyte/s':>10}{'tflop/s':>10}"]
        for one in self.scopes:
            rates = f"{one.bytes / one.seconds / 1e12:10.2f}{one.flops / one.seconds / 1e12:10.1f}"
            lines.append(f"{one.seconds * 1e6:12.1f}{rates}  {one.name}")
            lines.append(f"{'':34}└ {one.kernel}")
        return "\n".join(lines)


@dataclass(frozen=True)
class SumError:
    """The greatest error of an H100's sums of ``depth`` products of such numbers, relative to the greatest sum.

    ``sums`` compares with the exact sums of the rounded numbers, ``whole`` with those of the numbers before rounding.
    """

    numbers: str
    depth: int
    way: str
    sums: float
    whole: float


def profile(name: str) -> Profile:
    """Nsight Compute's report about a launch of `profiled_kernels`, by its name; a letter gives one without its names.

    Raises KeyError for an unknown name.

    >>> lab.examples.profile("nonsense")
    Traceback (most recent call last):
        ...
    KeyError: "there is no profile 'nonsense'; there are copy, follow, product, softmax_4_warps,...
    """
    recorded = _recorded()
    launches = recorded["launches"]
    whose = UNNAMED.get(name, name)
    if whose not in launches:
        raise KeyError(
            _("there is no profile {name}; there are {names}").format(
                name=repr(name), names=", ".join([*launches, *UNNAMED])
            )
        )
    found = launches[whose]
    figures = tuple(Figure(*row) for row in found["figures"])
    advice = tuple((section, text) for section, text in found["advice"])
    kernel = "?" if name in UNNAMED else found["kernel"]
    return Profile(name, kernel, figures, advice, recorded["machine"])


def proton(names: Sequence[str] = ()) -> ProtonTree:
    """Proton's tree of the launches of `profiled_kernels`, or of those with these names. Raises KeyError for others.

    >>> lab.examples.proton(["copy"])["copy"].runs
    20
    """
    recorded = _recorded()
    tree = ProtonTree(tuple(ProtonScope(**row) for row in recorded["proton"]), recorded["machine"])
    return replace(tree, scopes=tuple(tree[name] for name in names)) if names else tree


def sum_errors() -> tuple[SumError, ...]:
    """The errors of sums that a GPU's tensor cores made, by type and depth: ``tests/gpu/narrow_products.py``.

    >>> sorted({one.way for one in lab.examples.sum_errors()})[:2]
    ['float16', 'fp8']
    """
    return tuple(SumError(**row) for row in _recorded()["sums"])


def _recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / FILE).read_text(encoding="utf-8"))
    return found


def _told(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,.10g}"
