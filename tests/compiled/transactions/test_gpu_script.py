"""The script that holds predictions against Nsight Compute: what it reads, joins and writes, on made-up counts."""

# ruff: noqa: E501  ncu writes long lines

from __future__ import annotations

import json
import re

import pytest

import triton_lab as lab
from tests.gpu import transactions as script
from tests.gpu import transactions_by_line as by_line
from tests.wordings import Wording, line_of
from triton_lab.examples import example
from triton_lab.examples.conv2d import conv2d_kernel

LD, SECTORS, ST, ST_SECTORS, BANKS = script.METRICS
ATOM = "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"

WIDE = f'''==PROF== Connected to process 41
==PROF== Profiling "add_kernel" - 0: 0%....50%....100% - 3 passes
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","{BANKS}","{LD}","{SECTORS}","{ST}","{ST_SECTORS}"
"","","","","","","","","","","request","sector","request","sector"
"0","41","python3","127.0.0.1","add_kernel","1","7","(128, 1, 1)","(1024, 1, 1)","0","16,384","262,144","8,192","131,072"
"1","41","python3","127.0.0.1","sum_kernel","1","7","(128, 1, 1)","(1, 1, 1)","12","4","16","1","1"
==PROF== Disconnected from process 41
'''
LONG = f'''"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Section Name","Metric Name","Metric Unit","Metric Value"
"0","41","python3","127.0.0.1","add_kernel","1","Command line profiler metrics","{LD}","request","16,384"
"0","41","python3","127.0.0.1","add_kernel","1","Command line profiler metrics","{SECTORS}","sector","262,144"
"1","41","python3","127.0.0.1","sum_kernel(float *)","1","Command line profiler metrics","{BANKS}","","n/a"
'''


def row(case, kernel, number, predicted, launch=0, **more):
    return {
        "case": case,
        "kernel": kernel,
        "number": number,
        "launch": launch,
        "ptx": f"{case}{launch}",
        "predicted": predicted,
        "waits": False,
        "shared": [],
        "lines": [],
        "programs_at_once": 16,
        **more,
    }


def test_a_table_with_a_column_for_each_metric_is_read():
    first, second = script.counted(WIDE)
    assert (first["kernel"], second["kernel"]) == ("add_kernel", "sum_kernel")
    assert first["counted"] == {LD: 16_384, SECTORS: 262_144, ST: 8_192, ST_SECTORS: 131_072, BANKS: 0}
    assert second["counted"][BANKS] == 12


def test_a_table_with_a_row_for_each_metric_is_read():
    first, second = script.counted(LONG)
    assert first["counted"] == {LD: 16_384, SECTORS: 262_144}
    assert second == {"kernel": "sum_kernel", "counted": {BANKS: None}}


@pytest.mark.parametrize("text", ["", "==ERROR== Failed to find metric x\n"])
def test_nothing_counted_is_nothing_read(text):
    assert script.counted(text) == []


def test_launches_of_a_kernel_are_matched_in_their_order():
    predictions = [row("b", "add", 1, {LD: 2}), row("a", "add", 0, {LD: 1}), row("c", "lost", 2, {LD: 5})]
    counts = [{"kernel": "add", "counted": {LD: 1}}, {"kernel": "add", "counted": {LD: 3}}]
    found = script.joined(predictions, counts)
    assert [(one["case"], one["counted"]) for one in found] == [("a", {LD: 1}), ("b", {LD: 3}), ("c", None)]


def test_the_page_names_each_difference_with_its_reason(wording: Wording):
    zero = dict.fromkeys((*script.METRICS, *script.PARTED), 0)
    rows = [
        row("straight", "add", 0, {LD: 4, BANKS: 0}, counted={**zero, LD: 4}, same_code=True, driver_says=16),
        row("waiting", "lock", 1, {LD: 4, ATOM: 2}, counted={**zero, LD: 9, ATOM: 7}, waits=True, driver_says=12),
        row("strange", "odd", 2, {LD: 1}, counted={**zero, LD: 2}, same_code=False, driver_says=None),
        row("absent", "none", 3, {LD: 1}, counted=None),
    ]
    text = script.page({"device": "a GPU", "triton": "3.6.0", "rows": rows})
    assert "13 of 16 counters are equal (81.2%)." in text
    wording(line_of(text, "requests ld", "lock"), case="waiting: `lock`", told=4, counted=9)
    assert "| waiting: `lock` | `requests atom` | 2 | 7 |" in text
    assert "| strange: `odd` | `requests ld` | 1 | 2 | not explained |" in text
    wording(line_of(text, "machine code"), kernel="`odd`")
    assert "| absent: `none` | 1 / not counted |" in text
    assert "says of 1 of 2 launches what" in text
    assert "- `lock` (waiting): 16, the driver says 12" in text


def test_conflicts_of_shared_memory_are_compared_and_those_of_the_whole_pipe_told(wording: Wording):
    loads, stores = script.PARTED
    zero = dict.fromkeys(script.METRICS, 0)
    held = row("a", "add", 0, {loads: 8}, counted={**zero, LD: 4, BANKS: 20, loads: 5, stores: 3})
    assert script.both(held, script.SHARED) == (8, 8)
    text = script.page({"device": "a GPU", "triton": "3.6.0", "rows": [held]})
    assert "4 of 5 counters are equal (80.0%)." in text
    for found in ("1 of 2.", "3 of 5"):
        (sentence,) = (one for one in re.split(r"(?<=\.)\s", text) if found in f"{one} ")
        wording(sentence, found=found)
    assert "| a: `add` | 20 | 8 | 4 |" in text
    del held["counted"][loads]
    assert script.both(held, script.SHARED) == (8, None)
    assert "8 / not counted" in script.page({"device": "a GPU", "triton": "3.6.0", "rows": [held]})


def test_one_run_of_ncu_counts_the_kernels_by_name(tmp_path):
    asked = script.command("ncu", ["b", "a", "b"], script.METRICS, tmp_path / "log.csv")
    assert asked[:3] == ["ncu", "--clock-control", "none"]
    assert asked[asked.index("--kernel-name") + 1] == "regex:^(a|b)$"
    assert asked[-1] == "--launch"


def test_what_is_predicted_of_a_launch_can_be_written_down():
    import torch

    import triton_lab as lab
    from triton_lab.examples.vector_add import add

    with lab.record() as launches:
        add(torch.zeros(1 << 16), torch.zeros(1 << 16), block=1024)
    found = json.loads(json.dumps(script._prediction(launches[0].compile("sm_90"))))
    assert found["predicted"][LD] == 1024
    assert found["lines"][0]["issued"] == 512
    assert found["programs_at_once"] == 16


PAGE = """"Kernel Name","copy_kernel(float *, float *)"
"#","Address","Source","Instructions Executed","Predicated-On Thread Instructions Executed","L2 Theoretical Sectors Global","L1 Wavefronts Shared","L1 Wavefronts Shared Ideal"
"1","7f0","      MOV R1, c[0x0][0x28] ","128","4,096","0","0","0"
"2","7f1","@!P0 LDG.E.128 R4, desc[UR8][R2.64] ","128","4,090","2,048","0","0"
"3","7f2","      STS [R7], R4 ","128","4,096","0","512","128"
"4","7f3","@!P0 STG.E.128 desc[UR8][R2.64], R4 ","128","4,096","2,048","0","0"
"Kernel Name","sum_kernel"
"#","Address","Source","Instructions Executed","L2 Theoretical Sectors Global"
"1","7f0","@P1 LDG.E R4, desc[UR8][R2.64] ","4","n/a"
"""


def test_pages_of_the_source_are_read_kernel_by_kernel() -> None:
    first, second = by_line.counted("==PROF== Connected\n" + PAGE)
    assert (first["kernel"], second["kernel"]) == ("copy_kernel", "sum_kernel")
    assert first["instructions"][1] == [
        "@!P0 LDG.E.128 R4, desc[UR8][R2.64]",
        {"ran": 128, "lanes": 4090, "sectors": 2048, "wavefronts": 0, "ideal": 0},
    ]
    assert second["instructions"] == [["@P1 LDG.E R4, desc[UR8][R2.64]", {"ran": 4, "sectors": None}]]


def test_what_instructions_were_counted_is_added_up_by_line() -> None:
    sass = [["LDG.E.128", 21], ["STS", 21], ["STG.E.128", None]]
    held = {
        **row("copy", "copy_kernel", 0, {}),
        "sass": sass,
        "early": [],
        "unknown": [],
        "instructions": by_line.counted(PAGE)[0]["instructions"],
    }
    held["lines"] = [[21, "global load", {"lanes": 4096, "sectors": 1024}], [21, "shared store", {"conflicts": 384}]]
    found = [one[1:6] for one in by_line.comparisons([held])]
    assert found == [
        (21, "global load", "lanes", 4096, 4090),
        (21, "global load", "sectors", 1024, 2048),
        (21, "shared store", "conflicts", 384, 384),
    ]
    told = by_line.page({"device": "a GPU", "triton": "3.9", "rows": [held]})
    assert "1 of 3 (launch, line, counter) are equal (33.3%)" in told
    assert "| copy: `copy_kernel` | 21 | global load | sectors | 1,024 | 2,048 | not explained |" in told
    other = {**held, "sass": [["LDG.E", 21]]}
    assert not list(by_line.comparisons([other])) and "`copy_kernel`" in by_line.page(
        {"device": "", "triton": "", "rows": [other]}
    )


def test_the_machine_code_knows_the_lines_of_what_is_predicted() -> None:
    with lab.record() as launches:
        each = example("softmax")
        each.run(**each.inputs("small", 0, "cpu"))
    found = by_line.predicted(launches[-1].compile("sm_90"))
    lines = {(line, kind) for line, kind, _ in found["lines"]}
    assert (
        {(line, by_line.kind_of(opcode)) for opcode, line in found["sass"]}
        >= {one for one in lines if "global" in one[1]}
        != set()
    )


def test_statements_that_share_an_instruction_are_compared_together() -> None:
    """As LLVM makes one store of those in two branches; with several instructions nobody can tell whose it is."""
    numbers = {"lanes": 30, "sectors": 6}
    held = {**row("copy", "copy_kernel", 0, {}), "early": [], "unknown": [], "sass": [["STG.E", 32]]}
    held["lines"] = [
        [32, "global store", {"lanes": 10, "sectors": 2}],
        [39, "global store", {"lanes": 20, "sectors": 4}],
    ]
    held["instructions"] = [["STG.E", numbers]]
    assert [one[1:6] for one in by_line.comparisons([held])] == [
        (32, "global store", "lanes", 30, 30), (32, "global store", "sectors", 6, 6),
    ]  # fmt: skip
    several = {**held, "sass": [["STG.E", 32], ["STG.E", 35]], "instructions": [["STG.E", numbers]] * 2}
    assert [one[1:6] for one in by_line.comparisons([several]) if one[3] == "lanes"] == [
        (32, "global store", "lanes", 10, 30), (35, "global store", "lanes", 0, 30),
    ]  # fmt: skip


def test_what_was_measured_is_kept_small_and_makes_the_same_page_again(tmp_path) -> None:
    """docs/transactions-by-line.json is what the page in the docs was made of."""
    path = script.DOCS / "transactions-by-line.json"
    assert path.stat().st_size < 300_000
    data = json.loads(path.read_text(encoding="utf-8"))
    assert by_line.page(data) == path.with_suffix(".md").read_text(encoding="utf-8")
    compared = list(by_line.comparisons(data["rows"]))
    assert sum(one[4] == one[5] for one in compared) >= 0.95 * len(compared)
    assert all(one[6] for one in compared if one[4] != one[5]), "every difference has its reason"
    again = by_line.beside([{**one, "instructions": None} for one in data["rows"]], by_line.counts_of(data))
    assert again == data["rows"]
    by_line.write({**data, "rows": again}, tmp_path)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_ncus_text_is_read_kept_and_laid_beside_what_is_predicted() -> None:
    counts = by_line.counts_of({"text": PAGE})
    assert counts[0]["instructions"] == [
        ["LDG.E.128", {"lanes": 4090, "sectors": 2048}],
        ["STS", {"wavefronts": 512, "ideal": 128}],
        ["STG.E.128", {"lanes": 4096, "sectors": 2048}],
    ]
    first, second, third = by_line.beside(
        [{"kernel": "sum_kernel"}, {"kernel": "copy_kernel"}, {"kernel": "sum_kernel"}], counts
    )
    assert first["instructions"] == [["LDG.E", {}]] and second["instructions"] == counts[0]["instructions"]
    assert third["instructions"] is None


def test_a_statement_over_several_lines_is_told_by_its_first() -> None:
    starts = by_line.statements(conv2d_kernel)
    at = conv2d_kernel.starting_line_number + next(
        k for k, line in enumerate(conv2d_kernel.raw_src) if "weight = tl.load(" in line
    )
    assert starts[at] == starts[at + 1] == starts[at + 4] == at and starts[at + 5] == at + 5
