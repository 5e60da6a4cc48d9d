"""The scenes of a launch's card: its source, its findings, its tabs. See `triton_lab.views.scenes`."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from triton_lab.views.drawing.scene_bounds import (
    Few,
    GridShape,
    Many,
    Most,
    Name,
    Named,
    Positive,
    Sentence,
    Text,
    Whole,
)
from triton_lab.views.scenes import Scene, Whereabouts


class _Source(TypedDict):
    first: Whole
    lines: Many[tuple[Sentence, Many[Sentence], Sentence | None]]


class MarkedSource(_Source, total=False):
    """The lines of a source, each with the kinds of its accesses and the worst finding."""

    place: Whereabouts  # older saved notebooks lack this


class _Finding(TypedDict):
    severity: Sentence
    icon: Sentence
    line: Whole | None
    program: Whole | None
    message: Sentence
    hint: Sentence
    excerpt: Many[Sentence]
    stopped: bool
    orders: Many[Sentence]
    fix: Many[tuple[Whole, Sentence, Sentence]] | None


class FindingScene(_Finding, total=False):
    """A finding. ``hint``: what to do. ``stopped``: whether it ended the launch as an error.

    ``where``: its line in words. ``orders``: the possible outcomes of a race, a line each. ``fix``: for each edit its
    line, before and after. ``explains``: it may explain a wrong result. ``sort``: its kind. ``about``: what the kind
    means, a paragraph each. ``page``: the address of its page on a site, "" for none.
    """

    # Older saved notebooks lack these.
    where: Sentence
    explains: bool
    sort: Sentence
    about: Many[Sentence]
    page: Sentence


class _Tab(TypedDict):
    name: Name
    label: Name


class TabScene(_Tab, total=False):
    """A tab. ``window``: how many programs one part of it covers, if it follows the picked program."""

    window: Positive


class ItemScene(TabScene):
    """One of several pictures; ``lines`` of the source lead to it."""

    lines: Many[Whole]


class ChoiceScene(TypedDict):
    kind: Literal["choice"]
    items: Many[ItemScene]


class _CardScene(TypedDict):
    kind: Literal["card"]
    title: Sentence
    facts: Many[Sentence]
    grid: GridShape
    headings: Few[Sentence]
    table: Many[Few[Sentence]]
    scalars: Many[Sentence]
    findings: Annotated[list[FindingScene], Most(1 << 10)]
    failure: Text
    told: bool
    remarks: Many[Sentence]
    show: Many[Sentence]
    source: MarkedSource
    unchecked: Sentence
    tabs: Few[TabScene]
    opened: Sentence | None
    parts: Named[Scene]


class CardScene(_CardScene, total=False):
    """A card. ``told``: whether a finding already says what ``failure`` does. ``compare``: a call to be copied that
    compares the launch with an expected result."""

    compare: Sentence
