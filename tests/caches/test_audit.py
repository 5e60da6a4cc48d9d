"""Every function in the package that remembers its answers, and what its answer depends on beyond its arguments.

Whatever changes the meaning of a remembered thing must be in its key. A new cache fails this test until somebody has
thought about that and written the reason down; those that depend on something that can change have tests of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests import sources

AUDITED = {
    "backend/plugin/borrowed_memory.py:_code": "where this process has code, which it does not unload",
    "backend/plugin/borrowed_memory.py:_ways": "how the torch that is loaded keeps what it borrows",
    "backend/plugin/triton_cache.py:_instead": "the folder that stands in for another, until the process ends",
    "backend/compiler.py:_sources_hash": "our own source files, which a running process does not change",
    "backend/targets/gpu.py:_instance": "the driver class itself, one instance for good",
    "backend/plugin/dispatch_cache.py:_modules": "modules of ours",
    "backend/plugin/page_permissions.py:_reading": "a function of the system's",
    "backend/source/generating_source.py:_kernels": "a wrapper of Inductor's, whose file is named for its content",
    "backend/source/kernel_breakpoints.py:_lines": "the text alone",
    "backend/source/operator_precedence.py:_in_function": "the text alone",
    "backend/source/pointer_preview.py:follows_pointers": "a source of Triton by identity, alive as long as its answer",
    "backend/targets/both_targets.py:_for_cpu": "a source of Triton by identity, as long as it lives; its options",
    "backend/source/source_spans.py:_read": "the text alone",
    "compiled/explanations/__init__.py:_english": "tables of ours, the stage and the name",
    "compiled/transactions/ptx_registers.py:_special": "how many threads there are, alone",
    "compiled/sm90_kernels.py:ptx_of": "the operation and its types; Triton does not change while it runs",
    "compiled/sm90_kernels.py:_instructions": "the text and the options; Triton does not change while it runs",
    "compiled/sm90_kernels.py:_resources": "the text and the options; Triton does not change while it runs",
    "compiled/sm90_kernels.py:_taken": "the text and the options; Triton does not change while it runs",
    "compiled/disk_cache.py:_compiler": "Triton's own files, which a running process does not change",
    "course/exercise_registry.py:exercises": "our own pages, which a running process does not change",
    "backend/compiler.py:_hints": "Triton's own files",
    "interpreter/ops/extern_elementwise.py:_code": "the text and its constraints alone",
    "interpreter/ops/local_memory.py:_placement": "the layout's text, the shape and the size alone",
    "interpreter/c_library.py:_c_function": "the name and how many orders it takes; the library stays loaded",
    "interpreter/variants/ptx/special_unit.py:_units": "a file of ours",
    "ir/effects.py:_operands": "the operation's name and how many operands it has, of each role",
    "ir/traits/lane_map.py:same": "the number of dimensions alone",
    "ir/types.py:parse_type": "the text alone",
    "launch/checks/analysis/source_nodes.py:nodes_of": "the text alone; callers do not change the tree",
    "launch/checks/rules/unused_load.py:_unused": "the text alone",
    "launch/checks/rule.py:rules": "modules of ours",
    "launch/comparison/number_formats.py:smallest": "the dtype alone",
    "launch/comparison/number_formats.py:unit_roundoff": "the dtype alone",
    "launch/element_index.py:inverse": "shape and strides alone",
    "launch/sharding/shard.py:_executable": "the plan's text alone",
    "lazy/elementwise_table.py:_result_and_operands": "torch's default dtype, an argument: tests/lazy/test_cache.py",
    "lazy/graph.py:_is_inside": "the name alone",
    "lazy/graph.py:of": "the text alone",
    "lazy/index_maps.py:whole": "the shape alone",
    "lazy/operations/torch_queries.py:_asked": "torch's default dtype, an argument: tests/lazy/test_cache.py",
    "lazy/operations/torch_queries.py:_asked_of_elements": "torch's default dtype: (tests/lazy/test_cache.py)",
    "lazy/operations/torch_queries.py:_meeting": "torch's default dtype, an argument: tests/lazy/test_cache.py",
    "native/runtime/code_cache.py:_sources": "our own source files, which a running process does not change",
    "native/llvm/jit.py:_linker": "one instance for good",
    "native/llvm/jit.py:_llvm": "where llvmlite is installed, and whether it can be imported",
    "native/llvm/jit.py:_machine": "the target alone",
    "native/llvm/jit.py:host": "the processor that the process runs on",
    "native/llvm/jit.py:version": "llvmlite's version, which a running process does not change",
    "native/threads/thread_team.py:_linked": "the code as text; the processor stays",
    "polyhedral/core/isl_abort.py:_abort": "a function of isl's library, which stays loaded",
    "polyhedral/proofs/launch_grid.py:_tree": "16 sources of at most 2 MB, parsed",
    "processes/isolation.py:namespaces_exist": "what the system allows this process",
    "remote/wire_records.py:_hints": "the class alone",
    "remote/wire_records.py:_names": "the class alone",
    "views/drawing/fonts.py:_with_chinese": "fonts of this machine: the next process finds one that comes later",
    "views/drawing/fonts.py:_font": "fonts of matplotlib's own",
    "views/drawing/fonts.py:advance": "fonts of matplotlib's own",
    "views/drawing/style.py:palette": "constants",
    "views/html_output.py:_code": "the language, an argument, and files of ours",
    "views/widget.py:_class_of": "files of ours; its name has their hash: tests/views/test_widget.py",
    "views/script_bundle.py:_joined": "files of ours: the entry and the folder",
    "views/declarations.py:contract": "classes of ours",
    "views/declarations.py:kinds": "files of ours",
}


def remembering() -> Iterator[str]:
    for file in sources.python():
        for node in file.nodes:
            if isinstance(node, ast.FunctionDef) and any(_caches(decorator) for decorator in node.decorator_list):
                yield f"{file.name}:{node.name}"


def _caches(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name in ("cache", "lru_cache")


def test_every_cache_has_been_thought_about() -> None:
    assert sorted(remembering()) == sorted(AUDITED)
