"""A setting for the process and for blocks that may overlap: the one opened last decides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.backend.targets.setting import Setting


def made():
    applied = []
    return Setting(0, applied.append), applied


def test_a_change_is_for_good_until_the_next():
    setting, applied = made()
    assert setting.value == 0
    assert repr(setting.change(1, "one")) == "one"
    assert setting.value == 1 and applied == [1]
    setting.change(2, "two")
    assert setting.value == 2 and applied == [1, 2]


def test_what_was_before_a_block_holds_again_after_it_and_a_change_within_ends_with_it():
    setting, applied = made()
    setting.change(1, "")
    with setting.change(2, "") as inner:
        assert setting.value == 2
        setting.change(3, "")
        assert setting.value == 3
        with inner:
            assert setting.value == 2
        assert setting.value == 3
    assert setting.value == 1 and applied[-1] == 1


def test_what_is_refused_changes_nothing():
    def refuse(value):
        if value < 0:
            raise ValueError(value)

    setting = Setting(5, refuse)
    with pytest.raises(ValueError, match="-1"):
        setting.change(-1, "")
    assert setting.value == 5 and len(setting.levels) == 1


@given(st.lists(st.integers(0, 5), max_size=12), st.randoms(use_true_random=False))
def test_blocks_that_end_in_any_order_take_nothing_from_those_still_open(choices, random):
    """Held to a list of the values whose blocks are open."""
    setting, applied = made()
    opened = []
    for number, choice in enumerate(choices, 1):
        if opened and choice < 2:
            change, _ = opened.pop(random.randrange(len(opened)))
            change.__exit__()
        else:
            change = setting.change(number, "")
            change.__enter__()
            opened.append((change, number))
        assert setting.value == (opened[-1][1] if opened else 0)
        assert applied[-1] == setting.value
    for change, _ in opened[::-1]:
        change.__exit__()
    assert setting.value == 0
