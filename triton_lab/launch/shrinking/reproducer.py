"""A launch as a script of plain Triton and torch, to send to somebody."""

from __future__ import annotations

import keyword
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from triton_lab.launch.comparison.number_formats import is_float
from triton_lab.launch.shrinking.failure import Failure
from triton_lab.launch.shrinking.launch_case import LaunchCase
from triton_lab.launch.shrinking.script_kernel import ScriptKernel, value_text
from triton_lab.launch.shrinking.tensor_case import TensorCase, row_major
from triton_lab.launch.shrinking.tensor_contents import FEW, TensorContents
from triton_lab.localization import _

_WIDTH = 100


def script_text(case: LaunchCase, failure: Failure, message: str, expected: Mapping[str, Any]) -> str:
    """The script: imports, the kernel, the tensors, the launch, and what goes wrong in comments.

    ``message`` says what goes wrong. ``expected`` has the results that an argument should have, which the script
    compares. Raises CannotReplay if the kernel takes or uses what has no text.
    """
    kernel = ScriptKernel.of(case.kernel)
    names = _variables(case, kernel)
    plain = {name: value_text(value, kernel) for name, value in case.values.items()}
    made = [line for one in _by_storage(case) for line in _storage(case, one, names)]
    if any(one.block for one in case.tensors.values()):
        kernel.imports["TensorDescriptor"] = "from triton.tools.tensor_descriptor import TensorDescriptor"
    if any("float(" not in line and ("nan" in line or "inf" in line) for line in made):
        made = ['nan, inf = float("nan"), float("inf")', *made]
    told = _("{kernel} fails for the reason that stands at the end of this script.").format(kernel=case.kernel.__name__)
    device = ["if torch.cuda.is_available():", '    torch.set_default_device("cuda")']
    launch = _launch(case, {**names, **plain})
    lines = [f'"""{told}"""', "", *kernel.lines(), "", "", *device, *made, launch]
    for name, array in expected.items():
        wanted = f"torch.tensor({_list(array)}).reshape({tuple(array.shape)!r})"
        lines += [f"wanted = {wanted}", f"torch.testing.assert_close({names[name]}, wanted.to({names[name]}.dtype))"]
    return "\n".join([*lines, "", *_what_goes_wrong(failure, message, lines)]) + "\n"


def _what_goes_wrong(failure: Failure, message: str, lines: list[str]) -> list[str]:
    reason = failure.reason
    here = next((number for number, line in enumerate(lines, 1) if " ".join(line.split()) == reason.text), None)
    where = _(" on line {line}").format(line=here) if here is not None and reason.text else ""
    at = _(" at {argument}").format(argument=reason.argument) if reason.argument else ""
    told = _("What goes wrong: {kind}{where}{at}. {message}").format(
        kind=reason.kind, where=where, at=at, message=message
    )
    wrapped = [
        f"# {line}" for text in told.splitlines() for line in textwrap.wrap(text, _WIDTH, break_on_hyphens=False)
    ]
    return [*wrapped, "# " + _("`triton-lab check` on this file shows it, without a GPU, too.")]


def _variables(case: LaunchCase, kernel: ScriptKernel) -> dict[str, str]:
    """The script's variable of each tensor; one that is passed twice has one variable."""
    taken, found = {*kernel.names, "storage", "nan", "inf", "wanted"}, dict[str, str]()
    same: dict[tuple[Any, ...], str] = {}
    for name, one in case.tensors.items():
        key = (one.storage, one.dtype, one.shape, one.strides, one.offset, one.block)
        if key not in same:
            plain = "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in name).strip("_")
            while plain in taken or keyword.iskeyword(plain):
                plain += "_"
            same[key] = plain
            taken.add(plain)
        found[name] = same[key]
    return found


def _by_storage(case: LaunchCase) -> list[list[TensorCase]]:
    return [[one for one in case.tensors.values() if one.storage == number] for number in range(len(case.tails))]


def _storage(case: LaunchCase, tensors: list[TensorCase], names: Mapping[str, str]) -> list[str]:
    """The lines that make the tensors of one storage."""
    first = tensors[0]
    whole = case.storage_bytes(first.storage) == first.end and not first.offset
    lines, done, source = [], {names[first.name]}, names[first.name]
    dense = TensorContents.filled(first.shape, first.contents.values.dtype).values.reshape(-1)
    if whole and row_major(first.shape) == first.strides and dense.size:
        lines += _filled(names[first.name], first.contents, first.shape, first.dtype)
    else:
        size = case.storage_bytes(first.storage) // first.itemsize
        unset = any(one.contents.lacks_some for one in tensors)
        storage = "storage" if len(case.tails) == 1 else f"storage_{names[first.name]}"
        source = storage
        made = TensorContents.filled((size,), first.contents.values.dtype, unset=unset)
        lines += _filled(storage, made, (size,), first.dtype)
        view = f"as_strided({first.shape!r}, {first.strides!r}, {first.offset})"
        lines.append(f"{names[first.name]} = {storage}.{view}")
        lines += _written(names[first.name], first.contents, first.dtype, unset)
    for one in tensors[1:]:
        name = names[one.name]
        if name not in done:
            done.add(name)
            base = source if one.dtype == first.dtype else f"{source}.view(torch.{one.dtype})"
            lines.append(f"{name} = {base}.as_strided({one.shape!r}, {one.strides!r}, {one.offset})")
            if not (one.contents.is_one_value and not one.contents.pieces):
                lines += _written(name, one.contents, one.dtype, False)
    return lines


def _filled(name: str, contents: TensorContents, shape: tuple[int, ...], dtype: str) -> list[str]:
    """The lines that make a tensor with these contents."""
    size = ", ".join(map(str, shape)) if shape else "()"
    kind = "" if dtype == "float32" else f", dtype=torch.{dtype}"
    if contents.is_one_value and contents.lacks_some:
        return [f"{name} = torch.empty({size}{kind})"]
    if contents.lacks_some:
        return [f"{name} = torch.empty({size}{kind})", *_written(name, contents, dtype, True)]
    if not contents.pieces:
        return [f"{name} = torch.zeros({size}{kind})"]
    if contents.is_one_value:
        value = _number(contents.values[(0,) * len(shape)])
        if value in ("1", "1.0"):
            return [f"{name} = torch.ones({size}{kind})"]
        return [f"{name} = torch.full({shape!r}, {value}, dtype=torch.{dtype})"]
    if contents.counts_up:
        exact = f"torch.arange({contents.values.size}" + (f", dtype=torch.{dtype})" if dtype != "int64" else ")")
        return [f"{name} = {exact}" + ("" if len(shape) == 1 else f".reshape({shape!r})")]
    if len(contents.special) <= FEW and contents.values.size > FEW:
        common = TensorContents.filled(shape, contents.values.dtype, contents.common)
        return [*_filled(name, common, shape, dtype), *_single(name, contents, contents.special)]
    return [f"{name} = {_literal(contents.values, dtype)}"]


def _written(name: str, contents: TensorContents, dtype: str, zeros: bool) -> list[str]:
    """The lines that write contents into a tensor that there is; without ``zeros`` it holds zeros."""
    if not contents.values.size or contents.lacks_all:
        return []
    if not contents.lacks_some:
        if contents.is_one_value:
            value = _number(contents.values[(0,) * contents.values.ndim])
            return [f"{name}.fill_({value})"] if contents.pieces or zeros else []
        return [f"{name}.copy_({_literal(contents.values, dtype)})"]
    flat = np.flatnonzero(~contents.unset.reshape(-1))
    heads = np.concatenate([[0], np.flatnonzero(np.diff(flat) != 1) + 1, [flat.size]])
    values, lines = np.ascontiguousarray(contents.values).reshape(-1), []
    for first, last in zip(heads[:-1].tolist(), heads[1:].tolist(), strict=True):
        some = values[flat[first] : flat[last - 1] + 1]
        one = TensorContents(some, np.zeros(some.shape, np.bool_))
        told = _number(some[0]) if one.is_one_value else _literal(some, dtype)
        lines.append(f"{name}.view(-1)[{flat[first]}:{flat[last - 1] + 1}] = {told}")
    return lines


def _single(name: str, contents: TensorContents, elements: Any) -> list[str]:
    shape = contents.values.shape
    found = []
    for number in elements.tolist():
        at = np.unravel_index(number, shape)
        found.append(f"{name}[{', '.join(str(int(one)) for one in at)}] = {_number(contents.values[at])}")
    return found


def _literal(values: Any, dtype: str) -> str:
    return f"torch.tensor({_list(values)}, dtype=torch.{dtype})" if not dtype.startswith("float8") else (
        f"torch.tensor({_list(values)}).to(torch.{dtype})"
    )  # fmt: skip


def _list(values: Any) -> str:
    array = np.asarray(values)
    return f"[{', '.join(_list(one) for one in array)}]" if array.ndim else _number(array)


def _number(value: Any) -> str:
    array = np.asarray(value)
    if not is_float(array.dtype):
        return repr(array.item())
    number = float(array)
    return (
        repr(number) if array.dtype != np.float32 else str(array) if number - number != 0 else repr(float(str(array)))
    )


def _launch(case: LaunchCase, texts: Mapping[str, str]) -> str:
    def told(name: Any) -> str:
        if isinstance(name, tuple):
            return f"({', '.join(map(told, name))}{',' if len(name) == 1 else ''})"
        if name in case.tensors and case.tensors[name].block:
            return f"TensorDescriptor.from_tensor({texts[name]}, {list(case.tensors[name].block)!r})"
        return texts[name]

    rest = [f"{name}={told(name)}" if name in case.constexprs else "" for name in case.order]
    # What follows the first constexpr is passed by name.
    first = next((number for number, text in enumerate(rest) if text), len(rest))
    passed = [told(name) for name in case.order[:first]]
    passed += [text or f"{name}={told(name)}" for name, text in zip(case.order[first:], rest[first:], strict=True)]
    passed += [f"{name}={value!r}" for name, value in case.options.items()]
    grid = case.grid
    while len(grid) > 1 and grid[-1] == 1:
        grid = grid[:-1]
    return f"{case.kernel.__name__}[{grid!r}]({', '.join(passed)})"
