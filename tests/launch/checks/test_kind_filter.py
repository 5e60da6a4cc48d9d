"""The kinds of findings that count, as options name them."""

from __future__ import annotations

import pytest

from triton_lab.launch.checks.kind_filter import KindFilter
from triton_lab.launch.checks.rule import rules


@pytest.mark.parametrize(
    ("select", "ignore", "taken"),
    [
        ([], [], set(rules())),
        (["race,alias", "overflow"], [], {"race", "alias", "overflow"}),
        ([], ["race, alias"], {*rules()} - {"race", "alias"}),
        (["race,alias"], ["alias"], {"race"}),
    ],
)
def test_the_selected_count_without_the_ignored(select: list[str], ignore: list[str], taken: set[str]) -> None:
    kinds = KindFilter.of(select, ignore)
    assert {kind for kind in rules() if kinds.takes(kind)} == taken


@pytest.mark.parametrize("given", [(["rase"], []), ([], ["race,rase"])])
def test_an_unknown_kind_is_refused_with_all_kinds(given: tuple[list[str], list[str]]) -> None:
    with pytest.raises(LookupError) as refused:
        KindFilter.of(*given)
    assert all(kind in str(refused.value) for kind in ("'rase'", *rules()))
