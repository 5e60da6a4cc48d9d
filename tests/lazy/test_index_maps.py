"""Index maps against torch's own strides."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.lazy.index_maps import Map

SHAPE = (2, 3, 4)


@st.composite
def views(draw: st.DrawFn) -> torch.Tensor:
    """A view of arange(24) in shape (2, 3, 4), by some operations in a row."""
    view = torch.arange(24).reshape(SHAPE)
    for _ in range(draw(st.integers(0, 4))):
        how, at = draw(st.integers(0, 4)), draw(st.integers(0, 5))
        dim = at % max(view.dim(), 1)
        if view.dim() and how == 0:
            view = view.transpose(0, dim)
        elif view.dim() and how == 1:
            view = view.narrow(dim, 0, max(view.shape[dim] - 1, 1))
        elif view.dim() and how == 2:
            view = view[1 % view.shape[0] :: 2] if view.shape[0] > 1 else view
        elif how == 3 and view.dim() < 5:
            view = view.unsqueeze(0).expand(1 + at % 2, *view.shape)
        elif view.dim() > 1:
            view = view.select(dim, 0)
    return view


@given(views())
def test_the_address_text_finds_the_element_that_torch_finds(view: torch.Tensor) -> None:
    at = Map.of(view)
    found = [eval(at.address("i")) for i in range(view.numel())]
    assert found == view.flatten().tolist()
    assert at.last == view.max().item()


@given(views(), views())
def test_maps_that_visit_the_same_elements_are_known_to(first: torch.Tensor, second: torch.Tensor) -> None:
    same = first.flatten().tolist() == second.flatten().tolist()
    assert Map.of(first).same_elements(Map.of(second)) == same
    if Map.of(first).apart(Map.of(second)):
        assert not set(first.flatten().tolist()) & set(second.flatten().tolist())


@given(views())
def test_a_map_covers_its_base_only_if_it_shows_everything_in_order(view: torch.Tensor) -> None:
    assert Map.of(view).covers(24) == (view.flatten().tolist() == list(range(24)))
    repeated = len(set(view.flatten().tolist())) < view.numel()
    assert Map.of(view).repeats == repeated
