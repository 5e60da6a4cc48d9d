"""What coverage.py itself says of the examples' kernels while Triton's own interpreter runs their Python.

A script, for a process of its own: ``python -m tests.testing.coverage.by_force OUT EXAMPLE...`` writes the arcs by
file, and which examples that interpreter does not run.
"""

from __future__ import annotations

import json
import os
import sys

os.environ["TRITON_INTERPRET"] = "1"
os.environ["COVERAGE_CORE"] = "ctrace"


def main(out: str, names: list[str]) -> None:
    import coverage

    from triton_lab import examples

    refused = {}
    measured = coverage.Coverage(branch=True, data_file=None, config_file=False)
    for example in examples.all_examples():
        if example.name in names:
            inputs = example.inputs("small", 0, "cpu")
            try:
                with measured.collect():
                    example.run(**inputs)
            except Exception as error:
                refused[example.name] = repr(error)[:200]
    data = measured.get_data()
    arcs = {file: sorted(data.arcs(file) or ()) for file in data.measured_files() if "examples" in file}
    with open(out, "w") as file:
        json.dump({"arcs": arcs, "refused": refused}, file)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
