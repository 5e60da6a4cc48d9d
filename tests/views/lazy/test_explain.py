"""Pictures of steps: what must be on them, and that nothing on them hides anything else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise

import pytest
import torch
from hypothesis import given as any_of
from hypothesis import strategies as st

from tests.wordings import Wording, line_of
from triton_lab import lazy
from triton_lab.views.drawing.drawing import DrawnText, Line, Rectangle
from triton_lab.views.lazy.explain import StepView
from triton_lab.views.lazy.graph_layout import GAP, PADDING, ROOM, FramedRows, Thing, lay_out
from triton_lab.views.lazy.graph_picture import draw_graph
from triton_lab.views.notebook_output import SCENE


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    lazy.cache.clear()
    lazy.history.clear()
    with lazy.hash_includes_donors(True):
        yield


def tensors(*names: str) -> list[lazy.Tensor]:
    return [lazy.tensor(torch.arange(9.0).reshape(3, 3), name=name) for name in names]


def momentum() -> list[lazy.Tensor]:
    weights, gradient, speed = tensors("weights", "gradient", "speed")
    speed.mul_(0.9).add_(gradient)
    weights.sub_(speed * 0.1)
    return [weights, gradient, speed]


def softmax() -> list[lazy.Tensor]:
    (x,) = tensors("x")
    shifted = (x - x.amax(1, keepdim=True)).exp()
    return [x, shifted / shifted.sum(1, keepdim=True)]


def layer() -> list[lazy.Tensor]:
    x, weights, bias = tensors("x", "weights", "bias")
    made = [x, weights, bias, ((x - x.mean(1, keepdim=True)).exp() @ weights.T + bias[0]).relu()]
    x[1:].mul_(2)
    weights.add_(1)
    return made


def constants() -> list[lazy.Tensor]:
    first, second = tensors("first", "second")
    first.fill_(7)
    second.add_(first)
    return [first, second]


def long() -> list[lazy.Tensor]:
    (x,) = tensors("x")
    for count in range(100):
        x = x * 1.5 + count
    return [x]


def many() -> list[lazy.Tensor]:
    made = tensors(*"abcdefg")
    return [*made, *(x + y for x, y in pairwise(made))]


def newer() -> list[lazy.Tensor]:
    x, y = tensors("x", "y")
    best = x.argmax(1, keepdim=True)
    parts = torch.cat([x, y.t(), x.gather(1, best)], 1)
    return [
        x,
        y,
        parts // 2,
        parts.cumsum(0) % 3,
        lazy.arange(12) * 2,
        ~(x > y).any(0),
        torch.stack([x, y, x, x, y, x]),
    ]


PROGRAMS: list[Callable[[], list[lazy.Tensor]]] = [momentum, softmax, layer, constants, long, many, newer]


def explained(program: Callable[[], object]) -> StepView:
    kept = program()
    lazy.mark_step()
    assert kept is not None
    return lazy.explain()


def words(view: StepView) -> list[str]:
    return [item.text for item in view.drawing().items if isinstance(item, DrawnText)]


def overlap(first: Rectangle, second: Rectangle) -> bool:
    return (
        first.x < second.x + second.width
        and second.x < first.x + first.width
        and first.y < second.bottom
        and second.y < first.bottom
    )


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_box_of_the_graph_covers_another_and_no_line_runs_through_one(program: Callable[[], object]) -> None:
    drawing = explained(program).drawing()
    boxes = [item for item in drawing.items if isinstance(item, Rectangle) and item.tag]
    assert boxes
    for first, second in combinations(boxes, 2):
        assert not overlap(first, second), (first.tag, second.tag)
    for line in (item for item in drawing.items if isinstance(item, Line) and item.curved):
        for (x, top), (other, bottom) in pairwise(line.points[::3]):
            if x == other:  # a gate, passed from top to bottom
                assert not any(b.x < x < b.x + b.width and b.y < bottom and top < b.bottom for b in boxes)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_line_leads_from_the_middle_of_one_box_to_the_top_of_another_beside_those_that_end_there_too(
    program: Callable[[], object],
) -> None:
    drawing = explained(program).drawing()
    boxes = [item for item in drawing.items if isinstance(item, Rectangle) and item.tag]
    arriving: dict[int, list[float]] = {}
    for line in (item for item in drawing.items if isinstance(item, Line) and item.curved):
        (start, top), (x, y) = line.points[0], line.points[-1]
        assert any(abs(box.x + box.width / 2 - start) < 1e-6 and abs(box.bottom - top) < 1e-6 for box in boxes)
        (end,) = [number for number, box in enumerate(boxes) if box.x < x < box.x + box.width and abs(box.y - y) < 1e-6]
        arriving.setdefault(end, []).append(x)
    for number, places in arriving.items():
        box, apart = boxes[number], boxes[number].width / (len(places) + 1)
        assert sorted(places) == pytest.approx([box.x + apart * k for k in range(1, len(places) + 1)])


@pytest.mark.parametrize("program", PROGRAMS)
def test_everything_stays_on_the_page(program: Callable[[], object]) -> None:
    drawing = explained(program).drawing()
    for item in drawing.items:
        if isinstance(item, Rectangle):
            assert item.x >= 0 and item.x + item.width <= drawing.width and item.bottom <= drawing.height
        elif isinstance(item, Line):
            assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in item.points)


def test_operations_are_written_as_people_write_them() -> None:
    told = words(explained(momentum))
    for text in ("%3 = %1 * 0.9", "%5 = %3 + %4", "in0 weights", "out1 speed", "donated", "%5: in place of in1"):
        assert any(text == found.replace("  ", " ") for found in told), text


def test_newer_operations_are_written_as_people_write_them() -> None:
    told = " ".join(words(explained(newer)))
    for text in ("argmax(%", ", dim 1)", "= cat(%", "= gather(%", " // 2", "= cumsum(%", " % 3", "0, 1, ... 11", "= ~%",
                 "any(%", ", ..., %"):  # fmt: skip
        assert text in told, text


def test_the_report_stays_on_its_page() -> None:
    kept = momentum()
    lazy.mark_step()
    report = lazy.report()
    drawing = report.drawing()
    assert kept and all(0 <= item.x < drawing.width and item.y < drawing.height for item in drawing.items
                        if isinstance(item, DrawnText))  # fmt: skip
    assert report.scene()["source"] == "" and report.title() == "1 step: 0 hits, 1 miss"


def test_what_shares_memory_shares_a_colour() -> None:
    boxes = {item.tag: item for item in explained(momentum).drawing().items if isinstance(item, Rectangle) and item.tag}
    assert boxes["in0"].edge == boxes["out0"].edge == boxes["v8"].edge
    assert boxes["in1"].edge == boxes["out1"].edge == boxes["v5"].edge
    assert len({boxes[tag].edge for tag in ("in0", "in1", "in2")}) == 3


def wrong_program() -> list[lazy.Tensor]:
    t0, t1 = lazy.tensor([1], name="t0"), lazy.tensor([2], name="t1")
    t1.add_(t0)
    lazy.mark_step()
    t2 = t1 + t0
    t2.name = "t2"
    return [t0, t1, t2]


def test_the_donor_that_tells_two_graphs_apart_is_marked(wording: Wording) -> None:
    told = words(explained(wrong_program))
    assert "MISS" in told and "nearest: in0" in told
    donors = re.search(r"donors: [^.]*\.", " ".join(told))
    assert donors
    wording(donors[0], donor="in0")


def test_a_buffer_that_two_tensors_stand_on_is_shown_as_an_error(wording: Wording) -> None:
    with lazy.hash_includes_donors(False):
        view = explained(wrong_program)
    told = words(view)
    assert "HIT" in told and "t1, t2" in told
    wording(next(one for one in told if one.endswith(" the hash")), "hash")
    wording(next(one for one in told if one.startswith("in0 is ")), "use", name="in0")
    red = [item for item in view.drawing().items if isinstance(item, Line) and item.colour == "error"]
    assert len(red) == 2  # in the graph and between the buffers
    wording(line_of(view.text(), "overwritten"), "words")


def test_freed_buffers_are_called_so() -> None:
    def turned() -> list[lazy.Tensor]:
        (x,) = tensors("x")
        x.add_(x.t())
        return [x]

    view = explained(turned)
    assert "another order" in view.text()
    assert any("freed" in text for text in words(view))


def test_a_step_shows_itself_live_as_png_and_as_text() -> None:
    view = explained(softmax)
    data, metadata = view._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG") and SCENE in data
    assert "tl.load" in data["text/plain"] and metadata["image/png"]["width"] > 300
    assert view.scene()["source"] == view.source
    assert view.figure().artists


def test_without_a_step_there_is_nothing_to_explain(wording: Wording) -> None:
    with wording.raises(RuntimeError):
        lazy.explain()


def test_an_earlier_step_can_be_explained() -> None:
    first = lazy.tensor([1.0])
    first.add_(1)
    step = lazy.mark_step()
    first.mul_(3)
    lazy.mark_step()
    assert lazy.explain(step).step is step and lazy.explain().step is not step


def test_lines_pass_levels_and_rows_through_gates() -> None:
    blocks = [
        FramedRows("upper", [[Thing("a", 40, 20)], [Thing("b", 60, 20)]], 30, 0),
        FramedRows("lower", [[Thing("c", 50, 20)]], 30, 1),
    ]
    edges: list[tuple[object, object]] = [("in", "a"), ("in", "b"), ("a", "b"), ("b", "c"), ("in", "c"), ("c", "out")]
    plan = lay_out([Thing("in", 30, 20)], blocks, [Thing("out", 30, 20)], edges)
    lengths = [len(points) for points in plan.lines]
    assert lengths == [2, 4, 2, 2, 4, 2]
    assert plan.things["a"].bottom < plan.things["b"].y and blocks[0].y + blocks[0].height < blocks[1].y


def wide() -> list[lazy.Tensor]:
    """Twenty-five inputs, each in a kernel of its own."""
    made = tensors(*(f"x{number}" for number in range(25)))
    return [*made, *((x * 2 + number).exp() for number, x in enumerate(made))]


def deep() -> list[lazy.Tensor]:
    """A hundred operations, in a chain that uses an input at every link."""
    made = tensors("x", *(f"w{number}" for number in range(20)))
    found = made[0]
    for weights in made[1:]:
        found = (found @ weights).relu() * 0.5 + found
    return [*made, found]


def given() -> list[lazy.Tensor]:
    """Inputs in several rows, some of which are written over by what is in several rows of outputs."""
    made = tensors(*(f"x{number}" for number in range(16)))
    for one in made[5::4]:
        one.mul_(2)
    return [*made, *(x + 1 for x in made)]


def chain() -> list[lazy.Tensor]:
    """Some sixty operations, one after the other."""
    (x,) = tensors("x")
    found = x
    for number in range(60):
        found = found * 1.5 if number % 2 else found + 1.0
    return [found]


def met() -> list[lazy.Tensor]:
    """A chain that uses, at every fourth link, an input and what stood two links before."""
    x, y = tensors("x", "y")
    found, before = x, y
    for number in range(40):
        found, before = (found + before * y if number % 4 == 0 else found * 1.5), found
    return [found, before]


@pytest.mark.parametrize("program", [chain, met])
def test_a_long_chain_runs_across_the_page(program: Callable[[], object]) -> None:
    test_no_box_of_the_graph_covers_another_and_no_line_runs_through_one(program)
    test_everything_stays_on_the_page(program)
    drawing = draw_graph(lazy.explain().step)
    boxes = [item for item in drawing.items if isinstance(item, Rectangle) and item.tag.startswith("v")]
    assert len(boxes) > 40
    assert drawing.height < 1000 and drawing.width < 1.2 * ROOM  # one below another: 60 pixels each
    steps = [item for item in drawing.items if isinstance(item, Line)]
    sides = {(box.x + box.width, box.y + box.height / 2): (box.x, box.y + box.height / 2) for box in boxes}
    across = [line for line in steps if line.points[0] in sides]
    assert len(across) > len(boxes) / 2
    assert all(line.points[-1] in sides.values() for line in across)


@pytest.mark.parametrize("program", [wide, deep, given])
def test_a_large_graph_goes_on_below_where_the_page_ends(program: Callable[[], object]) -> None:
    test_no_box_of_the_graph_covers_another_and_no_line_runs_through_one(program)
    test_everything_stays_on_the_page(program)
    drawing = draw_graph(lazy.explain().step)
    assert drawing.width < 1.7 * ROOM, "all but the lines that pass fits"
    inputs = {box.y for box in drawing.items if isinstance(box, Rectangle) and box.tag.startswith("in")}
    assert len(inputs) > 1


def test_a_donation_goes_around_the_graph() -> None:
    drawing = explained(given).drawing()
    boxes = [item for item in drawing.items if isinstance(item, Rectangle) and item.tag]
    around = [item for item in drawing.items if isinstance(item, Line) and item.width == 2.5]
    assert len(around) == 3
    for line in around:
        for (x, y), (other, to) in pairwise(line.points):
            low, high = sorted((y, to))
            left, right = sorted((x, other))
            assert not any(
                b.x < right and left < b.x + b.width and b.y < high and low < b.bottom for b in boxes if b.tag[0] != "v"
            )


@any_of(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 3)), min_size=1, max_size=12), st.booleans())
def test_what_stands_side_by_side_fits_the_page_and_no_row_could_take_the_next(
    given_sizes: list[tuple[int, int]], frames: bool
) -> None:
    """Frames of one level, each with rows of a few things; or inputs alone."""
    sizes = given_sizes
    if frames:
        blocks = [FramedRows(k, [[Thing((k, 0), float(wide), 20.0)]], 0.0, 0) for k, (wide, _) in enumerate(sizes)]
        placed = [(b.x, b.y, b.width) for b in lay_out([], blocks, [], []).blocks]
        widths = [wide + 2.0 * PADDING for wide, _ in sizes]
    else:
        things = [Thing(k, float(wide), 20.0) for k, (wide, _) in enumerate(sizes)]
        plan = lay_out(things, [], [], [])
        placed = [(plan.things[k].x, plan.things[k].y, plan.things[k].width) for k in range(len(sizes))]
        widths = [float(wide) for wide, _ in sizes]
    assert [width for _, _, width in placed] == widths
    rows = {y: [k for k, (_, other, _) in enumerate(placed) if other == y] for _, y, _ in placed}
    assert [k for y in sorted(rows) for k in rows[y]] == list(range(len(sizes))), "in their order"
    for number, y in enumerate(sorted(rows)):
        row = rows[y]
        wide = sum(widths[k] for k in row) + GAP * (len(row) - 1)
        assert wide <= ROOM or len(row) == 1
        for left, right in pairwise(row):
            assert placed[right][0] == pytest.approx(placed[left][0] + widths[left] + GAP)
        if number + 1 < len(rows):
            assert wide + GAP + widths[row[-1] + 1] > ROOM, "the next would not have fitted"


def test_what_is_no_step_is_told_where_steps_are(wording: Wording) -> None:
    with wording.raises(TypeError):
        lazy.explain(lazy.tensor([1.0]))  # type: ignore[arg-type]
