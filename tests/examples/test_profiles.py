"""Recorded reports of profilers are opened by name, and read by their figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import triton_lab as lab
from tests.gpu.course_profiles import recorded
from triton_lab.examples.profiled_kernels import PROFILED
from triton_lab.examples.profiles import UNNAMED, profile, proton, sum_errors


def test_each_profiled_kernel_has_a_report_and_a_scope() -> None:
    tree = proton()
    assert [one.name for one in tree.scopes] == list(PROFILED)
    for name, one in PROFILED.items():
        report = profile(name)
        assert report.kernel == tree[name].kernel and "H100" in report.machine["device"]
        assert report["Grid Size"] >= 1 and tree[name].bytes == one.bytes
        # Faster than memory allows is a mistake in the bytes, or a set that stayed in the cache.
        assert one.bytes / tree[name].seconds < 3.36e12


@pytest.mark.parametrize("letter", UNNAMED)
def test_a_report_by_its_letter_has_no_names(letter: str) -> None:
    riddle, named = profile(letter), profile(UNNAMED[letter])
    assert riddle.figures == named.figures
    assert named.kernel not in str(riddle) and UNNAMED[letter] not in str(riddle)


def test_a_section_has_only_its_figures() -> None:
    report = profile("copy")
    section = report.section("Occupancy")
    assert section.sections() == ["Occupancy"] and section["Theoretical Occupancy"] == report["Theoretical Occupancy"]
    assert "DRAM Throughput" not in str(section)


def test_unknown_names_are_told_with_those_that_there_are() -> None:
    with pytest.raises(KeyError, match="DRAM Throughput"):
        profile("copy")["DRAM Troughput"]
    with pytest.raises(KeyError, match="Occupancy"):
        profile("copy").section("Occupation")
    with pytest.raises(KeyError, match="product"):
        profile("copies")
    with pytest.raises(KeyError, match="product"):
        proton(["copies"])


def test_sums_of_fp8_have_the_errors_that_the_chapter_shows() -> None:
    found = {(one.numbers, one.depth, one.way): one for one in sum_errors()}
    numbers, deepest = "between 0 and 1", max(depth for _, depth, _ in found)
    assert found[numbers, deepest, "fp8"].sums > 10 * found[numbers, deepest, "float16"].sums


def test_the_files_of_the_profilers_become_one_recording(tmp_path: Path) -> None:
    header = '"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value","Rule Description"\n'
    details, raw, scopes = (
        ["==PROF== a line before the table\n", header],
        ['"ID","dram__bytes_read.sum"\n', '"","Mbyte"\n'],
        [],
    )
    for number, name in enumerate(PROFILED):
        details.append(f'"{number}","kernel_{number}","Occupancy","Grid Size","","1,024",""\n')
        details.append(f'"{number}","kernel_{number}","Occupancy","","","","Do this"\n')
        raw.append(f'"{number}","134.5"\n')
        metrics = {"time (ns)": 2000.0, "count": 4}
        kernel = {"frame": {"name": f"kernel_{number}"}, "metrics": metrics, "children": []}
        scopes.append({"frame": {"name": name}, "metrics": {}, "children": [kernel]})
    files = {
        "details.csv": "".join(details),
        "raw.csv": "".join(raw),
        "proton.hatchet": json.dumps([{"children": scopes[::-1]}]),
        "machine.json": '{"device": "a GPU"}',
        "errors.json": "[]",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = json.loads(json.dumps(recorded(tmp_path)))
    assert found["machine"] == {"device": "a GPU"} and list(found["launches"]) == list(PROFILED)
    assert found["launches"]["copy"] == {
        "kernel": "kernel_0",
        "figures": [["Occupancy", "Grid Size", "", 1024.0], ["Counters", "dram__bytes_read.sum", "Mbyte", 134.5]],
        "advice": [["Occupancy", "Do this"]],
    }
    assert [row["name"] for row in found["proton"]] == list(PROFILED)
    assert found["proton"][0]["seconds"] == 5e-7 and found["proton"][0]["runs"] == 4


@pytest.mark.parametrize("name", ["column_sums", "softmax_4_warps", "row_sums"])
def test_the_lab_predicts_the_fault_that_the_report_shows(name: str) -> None:
    with lab.record() as launches:
        PROFILED[name].prepare("cpu", True)()
    made = launches[0].compile("sm_90")
    assert (made.metadata.spills > 0) == (name == "softmax_4_warps")
    load = made.transactions.transfers[0]
    assert (load.efficiency < 0.2) == (name == "column_sums")
