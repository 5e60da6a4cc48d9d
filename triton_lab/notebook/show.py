"""Shows a cell's launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from triton_lab.launch.launch import Launch
from triton_lab.notebook.freshness import jit_function
from triton_lab.notebook.options import Options


def show_launches(launches: Sequence[Launch], chosen: Options, total: int) -> None:
    """A card for each launch; the cell's badge learns the target from the outputs' metadata."""
    from IPython.display import display

    from triton_lab.views.card import Card
    from triton_lab.views.difference import Difference

    for launch in launches:
        compared = launch.outputs if chosen.target == "both" else []
        display(  # type: ignore[no-untyped-call]
            Card(
                launch,
                show=() if chosen.show == ("none",) else chosen.show,
                differences=[Difference(gpu, cpu, name) for name, gpu, cpu in compared],
            ),
            metadata={"triton_lab": {"target": "both" if compared else launch.target}},
        )
    if total > len(launches):
        print(f"{total - len(launches)} more launches were made; the first {len(launches)} are shown.")


def show_no_launch(kernels: Mapping[str, Any]) -> None:
    """Say what the cell defined instead."""
    if not kernels:
        print("The cell launched no kernel and defined none.")
        return
    print("The cell launched no kernel. It defined:")
    for name, value in kernels.items():
        kernel = jit_function(value)
        print(f"  {name}({', '.join(kernel.arg_names)})")
    name = next(iter(kernels))
    print(f"Launch one with {name}[grid](...).")
