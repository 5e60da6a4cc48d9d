"""Each kind of finding is declared once, in a module that has its name."""

from __future__ import annotations

import pytest

from triton_lab.launch.checks.rule import PACKAGE, Concerned, Merge, Rule, WholeRule, rules
from triton_lab.launch.diagnosis.severity import ERROR, NOTE, SEVERITIES

TEXTS = ("subject", "summary", "why", "remedy", "intended", "blind")


@pytest.mark.parametrize("kind", rules())
def test_a_rule_says_all_that_its_page_needs(kind: str) -> None:
    rule = rules()[kind]
    module = type(rule).__module__
    assert module.startswith(PACKAGE) and module.rpartition(".")[2] == kind.replace("-", "_")
    assert all(getattr(rule, name).strip() for name in TEXTS)
    assert rule.summary.endswith(".") and len(rule.summary) < 120
    assert (rule.merge is Merge.WHOLE) == isinstance(rule, WholeRule)


def test_rules_come_gravest_first_then_by_name() -> None:
    order = [(SEVERITIES.index(rule.severity), kind) for kind, rule in rules().items()]
    assert order == sorted(order)


def test_a_kind_is_declared_once_with_a_severity_that_exists() -> None:
    def declare(name: str, grave: str) -> None:
        class Declared(Rule):
            kind, severity, concerned = name, grave, Concerned.ONE

    for name, grave in (("race", ERROR), ("new", "grave")):
        with pytest.raises(TypeError, match=repr(name)):
            declare(name, grave)
    assert "new" not in rules() and NOTE in SEVERITIES
