"""The course's notebooks: a source (jupytext ``py:percent``) and an executed ``.ipynb`` beside it.

Reviewers and linters read the source; readers and static pages get the ``.ipynb`` with its outputs.
``python -m tests.notebooks.course``, which is ``make notebooks``, makes the second from the first.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

from triton_lab.course.edition import marked
from triton_lab.views.notebook_output import HTML, SCENE

FOLDER = Path(__file__).parents[2] / "notebooks"
CELL_SECONDS = 300


def sources() -> list[Path]:
    return sorted(FOLDER.glob("*.py"))


def executed(source: Path) -> nbformat.NotebookNode:
    """The notebook of ``source`` with the outputs of a fresh kernel; a cell that raises raises here."""
    notebook = jupytext.read(source)
    # A pair that differs in anything is refused by a JupyterLab with jupytext: readers get a notebook by itself.
    notebook.metadata.pop("jupytext", None)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    for index, cell in enumerate(notebook.cells):
        # jupytext draws ids at random: numbered ones keep the diff of a new run small.
        cell.id = f"cell-{index}"
    notebook = nbformat.from_dict(marked(notebook, source.stem))
    resources = {"metadata": {"path": str(source.parent)}}
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        record_timing=False,
        resources=resources,
        store_widget_state=False,
        shutdown_kernel="immediate",
    )
    with tempfile.TemporaryDirectory() as folder:
        # What a reader has solved begins with nothing, and the folder of the notebooks stays as it is.
        environment = os.environ | {"TRITON_LAB_PROGRESS": str(Path(folder, "progress.json"))}
        return _without_kernel(client.execute(env=environment))


def _without_kernel(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook without the ids by which its pictures ask the kernel that ran it: it is gone, and they are drawn at
    random, so that every run would differ.

    And without the HTML of pictures, which doubles the size of the notebooks: readers of the course have the extension.
    """
    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        if SCENE in output.get("data", {}):
            output.data[SCENE].pop("view", None)
            output.data.pop(HTML, None)
    return notebook


def texts(notebook: nbformat.NotebookNode) -> list[tuple[str, str]]:
    """What source and notebook must agree on: type and text of each cell."""
    return [(cell.cell_type, cell.source) for cell in notebook.cells]


def main() -> None:
    for source in sources():
        print(source.name, flush=True)
        nbformat.write(executed(source), source.with_suffix(".ipynb"))


if __name__ == "__main__":
    main()
