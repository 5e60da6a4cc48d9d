"""Which tests a change reaches, tested on this package."""

from __future__ import annotations

import pytest

from tests import reach

TIMELINE = "triton_lab/views/launch/accesses/timeline_view.py"


@pytest.fixture(scope="module")
def graph() -> reach.Graph:
    return reach.Graph()


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("triton_lab/ir/parse.py", {"tests/ir/test_parse.py": 0, "tests/launch/checks/rules/test_unwritten.py": None}),
        (TIMELINE, {"tests/views/launch/accesses/test_timeline_view.py": 0, "tests/browser/test_views_page.py": None}),
        ("triton_lab/launch/checks/rules/unwritten.py", {"tests/launch/checks/rules/test_unwritten.py": 0}),
        ("triton_lab/course/chapter_exercises/masks.py", {"tests/course/test_chapters.py": None}),  # by its name
        ("triton_lab/examples/rms_norm.py", {"tests/examples/test_rms_norm.py": 0}),
        ("tests/ir/test_parse.py", {"tests/ir/test_parse.py": 0}),
        ("tests/views/small.py", {"tests/views/test_told.py": None}),
        ("tests/conftest.py", {"tests/ir/test_parse.py": reach.FAR, "tests/browser/test_site.py": reach.FAR}),
        ("tests/views/approved.json", {"tests/views/test_approved.py": None}),  # data, read by its name
        ("tests/wordings/backend.txt", {"tests/backend/plugin/test_error_report.py": 1}),
        ("triton_lab/views/front/launch/timeline.js", {"tests/browser/test_views_page.py": None}),
        ("notebooks/04_masks.py", {"tests/notebooks/test_course.py": None}),
        ("pyproject.toml", {"tests/test_dependencies.py": None, "tests/ir/test_parse.py": None}),
    ],
)  # fmt: skip
def test_a_change_reaches_what_imports_or_reads_it(
    graph: reach.Graph, changed: str, tests: dict[str, int | None]
) -> None:
    found = reach.distances([changed], graph)
    for test, far in tests.items():
        assert test in found and (far is None or found[test] == far), (test, found.get(test))


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        (TIMELINE, "tests/ir/test_parse.py"),
        ("triton_lab/polyhedral/core/isl_effort.py", "tests/interpreter/test_casts.py"),  # a launch imports it in calls
        ("tests/ir/test_access_masks.py", "tests/ir/test_parse.py"),
        ("docs/mutation.md", "tests/ir/test_parse.py"),
        ("triton_lab/views/front/launch/timeline.js", "tests/ir/test_parse.py"),
    ],
)
def test_a_change_does_not_reach_what_needs_nothing_of_it(graph: reach.Graph, changed: str, test: str) -> None:
    assert test not in reach.distances([changed], graph)


def test_audits_read_every_source(graph: reach.Graph) -> None:
    found = reach.distances([TIMELINE], graph)
    audits = ("rooms", "messages", "private_words", "error_messages", "dependencies")
    assert {f"tests/test_{name}.py": found.get(f"tests/test_{name}.py") for name in audits} == {
        f"tests/test_{name}.py": 1 for name in audits
    }


def test_every_module_reaches_a_test(graph: reach.Graph) -> None:
    """Audits aside, which read all."""
    modules = [file for file in graph.files if file.startswith("triton_lab/")]
    missing = [
        module
        for module in modules
        if not any(reach.is_test(file) for file in graph.reached_from([module], "", audits=False))
    ]
    assert missing == []


def test_nearer_is_what_imports_it_over_fewer_others(graph: reach.Graph) -> None:
    found = reach.distances(["triton_lab/ir/parse.py"], graph)
    assert 0 == found["tests/ir/test_parse.py"] < found["tests/views/launch/accesses/test_timeline_view.py"]
