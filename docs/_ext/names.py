"""The reference: every public name of the package, by what one looks for it for.

The groups are written down here, and a name in none of them, or in two, stops the build.
"""

from __future__ import annotations

import inspect
import types
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

import triton_lab
from triton_lab.notebook.cell.magic_options import usage

FOLDER = "reference"
GROUPS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "launches": (
        "Launches",
        "Record what kernels do, ask what was recorded, and find what is wrong with it.",
        ("record", "check", "Launch", "Launches", "Access", "Argument", "Finding", "Origin", "Trace", "Values"),
    ),
    "pictures": (
        "Pictures",
        "`launch.plot` has the pictures of a launch; the others stand by themselves.",
        ("interact", "storage", "tiled_product", "cell"),
    ),
    "targets": (
        "Targets and limits",
        "Where launches run, on which engine, and what they may take.",
        ("target", "limits", "engines", "spread", "language", "Outcome"),
    ),
    "comparing": (
        "Comparing and measuring",
        "Two results and the cause of their difference; what is odd without one; the smallest launch that fails; times "
        "over sizes; launches in files.",
        ("compare", "Comparison", "explain", "Explanation", "shrink", "ShrunkLaunch", "sweep", "Sweep", "Time", "load"),
    ),
    "proofs": (
        "Proofs",
        "What holds of a kernel for every size, before it runs.",
        ("prove", "Proof"),
    ),
    "compiling": (
        "Compiling",
        "What a GPU's compiler makes of a kernel, on any machine.",
        ("compile", "Compiled", "CompiledList", "layout", "Layout", "Conversion"),
    ),
    "polyhedra": ("Polyhedra", "Loop nests as sets and maps.", ("polyhedral", "schedule")),
    "more": ("Lazy tensors and examples", "Graphs that become kernels; kernels to try.", ("lazy", "examples")),
    "testing": ("Testing", "For those who write tests of kernels.", ("testing",)),
    "course": ("The course", "Exercises, their checks, and what a teacher needs.", ("course",)),
    "errors": (
        "Errors",
        "What is raised, and why.",
        (
            "KernelError",
            "ArgumentError",
            "CannotReplay",
            "CheckFailed",
            "CheckIncomplete",
            "CompileError",
            "Deadlock",
            "EndlessRecursion",
            "LaunchNotRecorded",
            "LayoutError",
            "NotCompilable",
            "NotRecorded",
            "RemoteError",
            "SavedLaunchError",
            "StepLimit",
            "TargetError",
            "Unchecked",
            "Unsupported",
        ),
    ),
}


# What names lead to and no name is: the module and class, by page.
ACCESSORS = {
    "pictures": "triton_lab.views.launch.card.launch_plot.Pictures",
    "compiling": "triton_lab.views.compiled.compiled_plot.CompiledPlot",
}


def put_pages(app: Sphinx) -> None:
    """Write a page for each group, and one that leads to them."""
    listed = [name for _, _, names in GROUPS.values() for name in names]
    public = {name for name in triton_lab.__all__ if not name.startswith("_")}
    if wrong := (public ^ set(listed)) | {name for name in listed if listed.count(name) > 1}:
        raise ExtensionError(f"{', '.join(sorted(wrong))}: once in a group of {Path(__file__).name}, and public")
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    for page, (title, words, names) in GROUPS.items():
        blocks = "\n\n".join(map(_block, names))
        if page in ACCESSORS:
            blocks += f"\n\n.. autoclass:: {ACCESSORS[page]}"
        _put(folder / f"{page}.md", f"# {title}\n\n{words}\n\n```{{eval-rst}}\n{blocks}\n```\n")
    _put(folder / "magic.md", f"# The magic\n\nOn the first line of a cell:\n\n```text\n{usage().strip()}\n```\n")
    heads = "- [The magic](magic.md): `%%triton`\n" + "".join(
        f"- [{title}]({page}.md): {_links(names)}\n" for page, (title, _, names) in GROUPS.items()
    )
    tree = "```{toctree}\n:hidden:\n\n" + "\n".join(["magic", *GROUPS]) + "\n```\n"
    _put(folder / "index.md", f"# Reference\n\n`import triton_lab as lab`: every public name.\n\n{heads}\n{tree}")


def _links(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _block(name: str) -> str:
    """The directive that documents a name."""
    found = getattr(triton_lab, name)
    if isinstance(found, types.ModuleType):
        return f".. automodule:: triton_lab.{name}\n   :members: {', '.join(_own(found))}\n   :imported-members:"
    kind = "autoexception" if _is_error(found) else "autoclass" if inspect.isclass(found) else "autofunction"
    return f".. {kind}:: triton_lab.{name}"


def _own(module: types.ModuleType) -> list[str]:
    return [name for name in getattr(module, "__all__", ()) if callable(getattr(module, name, None))]


def _is_error(found: Any) -> bool:
    return inspect.isclass(found) and issubclass(found, BaseException)


def _put(path: Path, text: str) -> None:
    """Write what has changed: the rest need not be read again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", put_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
