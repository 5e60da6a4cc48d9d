"""A conversion's picture: the way of each element is the one that both layouts and the map between them tell."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from tests.compiled.layouts.random_layouts import Asked, register_layouts
from tests.views.layouts.test_layout_view import MMA, blocked
from tests.views.test_script_bundle import node
from tests.wordings import Wording, line_of
from triton_lab.compiled.layouts import LayoutError
from triton_lab.compiled.layouts.layout_tile import HARDWARE
from triton_lab.views.drawing.png import png
from triton_lab.views.layouts.conversion_view import SAYS, ConversionView
from triton_lab.views.script_bundle import FRONT


def to_mma() -> ConversionView:
    return blocked((32, 32)).to(lab.layout(MMA, (32, 32))).plot()


@settings(max_examples=15, deadline=None)
@given(st.sampled_from([1, 2]).flatmap(lambda blocks: st.tuples(*[register_layouts(blocks)] * 2)), st.data())
def test_the_way_of_an_element_ends_at_each_of_its_places(asked: tuple[Asked, Asked], data: st.DataObject) -> None:
    shape = tuple(min(size, 32) for size in map(min, *(one.shape for one in asked)))
    before, after = (lab.layout(one.spelled, shape) for one in asked)
    element = tuple(data.draw(st.integers(0, size - 1)) for size in shape)
    view = before.to(after).plot(element=element)
    told = [line for line in view.text().splitlines() if line.startswith("element")]
    owners, held = after.owner(*element), before.owner(*element)
    assert len(told) == len(owners)
    for line, place in zip(told, owners, strict=True):
        assert str(place) in line
        if "stays" not in line:
            assert any(f"from {one} to" in line for one in held)
        else:
            assert place in held


def test_colours_count_what_comes_from_where() -> None:
    view = to_mma()
    counts = view.conversion.counts()
    shown = view.flow
    held = np.bincount(view.conversion.levels(), minlength=5)
    assert held.tolist() == list(counts.values()) and held.sum() == 1024
    told = {"same register": SAYS[0], "same warp": SAYS[2], "same block": SAYS[3]}
    assert [key.text for key in shown.legend] == [f"{says}: {counts[name]}" for name, says in told.items()]
    far = view.conversion.levels() == 3
    assert len(set(map(tuple, shown.styles[1:][far].tolist()))) == 1


def test_bank_conflicts_of_elements_in_order_are_told(wording: Wording) -> None:
    view = to_mma()
    plain = view.conversion.in_order()
    assert plain is not None
    stored, loaded = plain
    told = line_of(view.text(), "wavefronts")
    conflicts = {"storing": f"{stored.conflicts} bank", "loading": f"{loaded.conflicts} bank"}
    wording(told, store=stored.wavefronts, load=loaded.wavefronts, **conflicts)
    # Rows of 128 bytes. A store's quarter of a warp has 64 bytes of each of two rows: two words of a bank, for 8 x 4
    # quarters. A load's half has 32 bytes of each of four: four words, for 16 x 2 halves.
    assert (stored.conflicts, loaded.conflicts) == (32, 32 * 3)
    assert blocked().to(blocked()).in_order() is None
    assert blocked().to(blocked()).plot().title().endswith("nothing moves")


def test_an_element_that_is_not_there_is_refused() -> None:
    with pytest.raises(LayoutError, match=r"element \(32, 0\) is outside"):
        to_mma().conversion.plot(element=(32, 0))


def test_the_browser_finds_the_same_places(tmp_path: Path) -> None:
    """`moves` of the scene, put together by Node as `conversion.js` does, are what Python says."""
    view = to_mma()
    scene, after = view.scene(), view.layouts[1].linear
    wanted = []
    for packed in range(1024):
        source = view.conversion.source_of(**after.place(packed))
        wanted.append(view.conversion.source.inputs(source))
    side = {key: scene["after"][key] for key in ("matrix", "inputs", "axes", "padding")}  # type: ignore[literal-required]
    script = tmp_path / "moves.mjs"
    script.write_text(
        f"""import {{ bitsIn, heldOf }} from {json.dumps((FRONT / "layouts" / "held.js").as_uri())};
import assert from "node:assert/strict";
const {{ side, moves, wanted }} = {json.dumps({"side": side, "moves": scene["moves"], "wanted": wanted})};
const from = (at) => bitsIn(at).reduce((place, bit) => place ^ moves[bit], 0);
assert.deepEqual([...heldOf(side).place].map(from), wanted);"""
    )
    done = subprocess.run([node(), str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    assert after.names == HARDWARE


def test_it_is_drawn_and_shows_itself(wording: Wording) -> None:
    assert png(to_mma().figure()).startswith(b"\x89PNG")
    shown, _ = to_mma().conversion._repr_mimebundle_()
    title = shown["text/plain"].splitlines()[0]
    wording(title, source="blocked", target="MMA", shape="32×32", bits=32)
