"""Transactions as a picture: heatmaps against addresses lane by lane, every form, and what a bad request is told."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import triton_lab as lab
from tests.compiled.transactions.kernels import CASES
from tests.views.artists import words
from tests.wordings import Wording
from triton_lab.compiled.transactions import worst
from triton_lab.examples import all_examples
from triton_lab.examples.vector_add import add, add_kernel
from triton_lab.views.compiled.compiled_card import CompilationCard
from triton_lab.views.compiled.sector_heatmaps import of_shared, of_transfer
from triton_lab.views.launch.card.launch_card import Card

EXAMPLES = {each.name: each for each in all_examples()}


def compiled(run, target="sm_90"):
    with lab.record() as launches:
        run()
    return launches[0].compile(target)


def case(name):
    return compiled(lambda: next(each for each in CASES if each.name == name).run("cpu"))


@pytest.mark.parametrize("name", ["misaligned by three elements", "a stride of 2", "a masked tail", "a random gather"])
def test_the_heatmap_has_the_bytes_of_each_sector_that_each_warp_wants(name):
    made = case(name)
    for one in made.transactions.transfers:
        for program in (0, 7):
            shown = of_transfer(one, made.launch, program)
            addresses, on = one.lanes(program)
            rows = [(warp, k) for warp in range(addresses.shape[0]) for k in range(addresses.shape[1])]
            asked = [
                {byte for at in addresses[row][on[row]].tolist() for byte in range(at, at + one.width)} for row in rows
            ]
            expected = [wanted for wanted in asked if wanted][: len(shown.rows)]
            for wanted, counts in zip(expected, shown.counts, strict=True):
                assert counts.sum() == len(wanted)
                assert (counts > 0).sum() == len({byte // 32 for byte in wanted})


def test_the_columns_are_told_in_bytes_of_the_argument():
    made = compiled(lambda: add(torch.zeros(1024), torch.zeros(1024), block=128))
    shown = of_transfer(made.transactions.transfers[0], made.launch, 2)
    assert shown.columns[0] == "bytes 1,024 to 1,055 of x_ptr"
    assert shown.note == "4 requests, 16 sectors of program (2, 0, 0)"


def test_banks_of_the_worst_instruction_are_shown():
    made = compiled(lambda: EXAMPLES["matmul_backward"].check("small"))
    worst = max(made.transactions.shared, key=lambda line: line.conflicts)
    shown = of_shared(worst)
    parts = worst.worst.parts()
    assert shown.counts.shape == (len(parts), 32)
    assert shown.counts.max() > 1
    assert sum(int(np.max(counts)) for _, counts in parts) == int(worst.worst.wavefronts.sum())


def test_the_worst_line_is_shown_first_and_named(wording: Wording):
    view = case("a stride of 2").plot.transactions()
    assert view.accesses[view.shown].line == view.worst.line
    told = view.text().splitlines()
    wording(told[0], kernel="strided", target="sm_90")
    wording(told[1], line=view.worst.line, name="x", moved="131,072", used="16,384", share="12%")


def test_in_words_the_worst_line_is_told_in_lines_that_a_notebook_has_room_for():
    made = case("a stride of 2").transactions
    lines, sentence = str(made).splitlines(), str(worst(made))
    told = lines[len(list(made.rows())) :]
    assert len(told) > 1 and max(map(len, told)) <= 100 and " ".join(told) == sentence


def test_a_line_and_a_program_can_be_asked_for(wording: Wording):
    made = compiled(lambda: EXAMPLES["softmax"].check("small"))
    store = made.launch.accesses[-1]
    view = made.plot.transactions(program=5, line=store.line)
    shown = view.scene()
    assert shown["program"] == 5
    title = shown["traffics"][shown["shown"]]["title"]
    wording(title, access="store", name="y_ptr", line=store.line, program="program (5, 0, 0)")


def test_other_programs_are_parts():
    view = compiled(lambda: EXAMPLES["softmax"].check("small")).plot.transactions()
    part = view.part(f"{view.name}/0/12")
    assert part["kind"] == "traffic"
    assert "program (12, 0, 0)" in part["title"]
    for name in (f"{view.name}/0/13", f"{view.name}/99/0", f"{view.name}/0", "elsewhere"):
        with pytest.raises(LookupError, match="has no part"):
            view.part(name)


def test_what_there_is_not_is_told(wording: Wording):
    made = compiled(lambda: add(torch.zeros(1000), torch.zeros(1000), block=128))
    with wording.raises(ValueError, number=8):
        made.plot.transactions(program=8)
    with wording.raises(ValueError, line=2):
        made.plot.transactions(line=2)
    alone = lab.compile(add_kernel, "*fp32, *fp32, *fp32, i32", {"BLOCK": 128}, "sm_90")
    with wording.raises(LookupError):
        alone.plot.transactions()
    assert not {"transactions", "cost"} & {tab.name for tab, panel in alone.plot().panels if panel.there}


def test_every_form_of_a_kernel_that_touches_nothing(wording: Wording):
    import triton

    @triton.jit
    def idle(x):
        pass

    view = compiled(lambda: idle[(2,)](torch.zeros(1))).plot.transactions()
    wording(view.text().splitlines()[-1])
    assert view.scene()["table"] == []
    view.figure()


@pytest.mark.parametrize("name", ["a random gather", "an atomic scatter", "a pipelined product", "a masked tail"])
def test_every_picture_can_be_drawn(name):
    view = case(name).plot.transactions()
    view.figure()
    assert len(view.scene()["table"]) == len(view.accesses) == len(view.scene()["lines"])


def test_a_card_has_the_tabs_once_its_launch_was_compiled():
    made = compiled(lambda: add(torch.zeros(1000), torch.zeros(1000), block=128))
    card = Card(made.launch)
    assert card.part("transactions")["kind"] == "choice"
    assert card.part("transactions/0")["kind"] == "transactions"
    assert card.part("transactions/0/1/3")["kind"] == "traffic"
    assert card.part("cost/0")["kind"] == "cost"


def test_amd_has_a_cost_and_no_transactions_in_one_card():
    with lab.record() as launches:
        add(torch.zeros(1000), torch.zeros(1000), block=128)
    launches[0].compile(["sm_90", "gfx942"])
    card = Card(launches[0])
    assert card.part("transactions/1")["kind"] == "words"
    assert "gfx942 is not" in card.part("transactions/1")["text"]
    assert card.part("cost/1")["kind"] == "cost"
    assert "gfx942" in card.part("cost/1")["title"]


@pytest.mark.parametrize("targets", [["gfx942", "sm_90"], ["sm_90", "gfx942"], ["gfx942"]])
def test_the_picture_of_several_targets_has_the_transactions_of_those_that_have_any(targets):
    with lab.record() as launches:
        add(torch.zeros(1000), torch.zeros(1000), block=128)
    made = launches[0].compile(targets)
    drawn = " ".join(one.text for one in words(CompilationCard(made).figure()))
    assert ("memory requests" in drawn) == ("sm_90" in targets)
    assert "gfx942: compiled.plot.transactions()" not in drawn
    launches[0].plot().figure()
