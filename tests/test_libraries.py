"""The page of mistakes in libraries is that of the cases, and each case shows its mistake where the library is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import pytest

from tests.libraries import CASES, PAGE, Case, Seen, rendered, run


def test_the_page_has_the_cases() -> None:
    assert PAGE.read_text(encoding="utf-8") == rendered()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.package)
def test_a_library_has_its_mistake(case: Case) -> None:
    try:
        found = version(case.package)
    except PackageNotFoundError:
        pytest.skip(f"{case.package} is not installed: make libraries")
    if found != case.version:
        pytest.skip(f"{case.package} {found} is installed, the case is about {case.version}")
    assert run(case).shows(case)


def test_another_line_or_kind_or_an_equal_result_does_not_show_it() -> None:
    case = CASES[1]
    assert Seen(((case.kind, f"/x/{case.file}", case.line),), "").shows(case)
    assert not Seen(((case.kind, f"/x/{case.file}", case.line + 1),), "").shows(case)
    assert not Seen((("race", f"/x/{case.file}", case.line),), "").shows(case)
    assert not Seen((), "differs by 0.00").shows(CASES[0])
    assert Seen((), "differs by 1.37").shows(CASES[0])
