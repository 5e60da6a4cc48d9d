"""External input is data: nothing in the package reads a pickle, except in the listed places.

The test searches the syntax of every module for names: modules that read objects, calls that may, and the switches
that allow others to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import triton_lab

PACKAGE = Path(triton_lab.__file__).parent
MODULES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "jsonpickle"}
# Calls by their last two names that read an object of any class, whatever the module is called here.
CALLS = {"torch.load", "numpy.load", "np.load", "pandas.read_pickle", "pd.read_pickle", "yaml.load", "protocol.loads"}
# Each is a module that may name them, and why nothing from outside is read there.
ALLOWED = {
    "remote/call_job.py": "a call that is spread is code by intent: the job's own process reads it",
    "interpreter/variants/ptx/special_unit.py": "tables of ours, with allow_pickle=False",
    "launch/replay/instrumented_copy.py": "a copy of a syntax tree, written and read in one expression",
}


def suspects(source: str) -> Iterator[str]:
    """What in a module's text may read an object."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if MODULES & set(name.name.split(".")))
        elif isinstance(node, ast.ImportFrom):
            named = {*(node.module or "").split("."), *(name.name for name in node.names)}
            yield from MODULES & named
        elif isinstance(node, ast.Call):
            yield from _called(node)
        elif isinstance(node, ast.Attribute) and node.attr in MODULES and ast.unparse(node.value) != "copyreg":
            yield ast.unparse(node)


def _called(node: ast.Call) -> Iterator[str]:
    name = ".".join(ast.unparse(node.func).split(".")[-2:])
    switches = {one.arg: one.value for one in node.keywords}
    if name in CALLS:
        yield name
    for switch, safe in (("allow_pickle", False), ("weights_only", True)):
        value = switches.get(switch)
        if value is not None and not (isinstance(value, ast.Constant) and value.value is safe):
            yield f"{switch}={ast.unparse(value)}"
    if name.endswith("import_module") or name == "__import__":
        yield from (one.value for one in node.args if isinstance(one, ast.Constant) and one.value in MODULES)


def test_nothing_in_the_package_reads_pickles() -> None:
    found = {
        file.relative_to(PACKAGE).as_posix(): sorted(set(suspects(file.read_text(encoding="utf-8"))))
        for file in PACKAGE.rglob("*.py")
    }
    told = {file: names for file, names in found.items() if names}
    assert set(told) == set(ALLOWED), told


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "import pickle as p",
        "from distributed.protocol import pickle as functions",
        "from pickle import loads",
        "import distributed.protocol.pickle",
        "import torch\ntorch.load(path)",
        "import numpy as np\nnp.load(path)",
        "np.lib.format.read_array(file, allow_pickle=True)",
        "torch.serialization.load(path, weights_only=flag)",
        "import importlib\nimportlib.import_module('marshal')",
        "import distributed\ndistributed.protocol.pickle.loads(b)",
        "from distributed import protocol\nprotocol.loads(frames)",
        "import shelve",
    ],
)
def test_each_way_to_read_one_is_found(source: str) -> None:
    assert list(suspects(source))


@pytest.mark.parametrize(
    "source", ["import json\njson.loads(x)", "np.save(f, a, allow_pickle=False)", "copyreg.pickle(A, b)"]
)
def test_what_reads_none_is_not(source: str) -> None:
    assert not list(suspects(source))
