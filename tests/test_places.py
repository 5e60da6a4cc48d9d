"""The table of places in the documentation is that of the last run of ``python -m tests.places``, and not stale."""

from __future__ import annotations

import json

from tests.places import BARE, NOT_RUN, PAGE, RECORD, Row, digest, rendered


def test_the_table_of_places_is_not_stale() -> None:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    rows = [Row(**row) for row in record["rows"]]
    assert PAGE.read_text(encoding="utf-8") == rendered(rows)
    assert record["sources"] == digest()
    places = {row.place for row in rows}
    assert {"JupyterLab", "Notebook 7", BARE, "marimo edit", "marimo run", "MyST"} <= places
    assert tuple(rows[-len(NOT_RUN) :]) == NOT_RUN


def test_what_a_browser_showed_is_live() -> None:
    rows = [Row(**row) for row in json.loads(RECORD.read_text(encoding="utf-8"))["rows"]]
    for row in rows:
        if row.seen == "in a browser" and row.live != "-":
            assert (row.live, row.sliders, row.findings) == ("yes", "yes", "yes"), row
