"""The records that travel: a fixed table of classes, whose fields are checked against their declared types.

A name from a peer is looked up in this table alone; a field that is missing, unknown or of another type raises
DataError.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, Union

import numpy as np

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.kernel_errors import AccessFault, KernelErrorData
from triton_lab.interpreter.machine import Limits
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.runtime_values import Descriptor
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.diagnosis.finding import Edit, Finding, Fix
from triton_lab.launch.diagnosis.verdict import Unchecked, Verdict
from triton_lab.launch.recording.snapshot import SavedRegion, Snapshot
from triton_lab.launch.saving.checked_fields import Shown
from triton_lab.launch.sharding.shard import Done, Whole
from triton_lab.launch.source_lines import UserLine
from triton_lab.localization import _
from triton_lab.remote import job
from triton_lab.remote.remote_errors import DataError

_DATACLASSES = (
    *(
        job.Job,
        job.Sent,
        job.TensorArgument,
        job.Reinterpreted,
        job.DescriptorArgument,
        job.Interpreted,
        job.CompiledJob,
        job.Called,
    ),
    *(job.ShardWork, job.JobAnswer, job.Changed, job.Raised, job.JobEnded, job.Reply),
    *(KernelErrorData, AccessFault, Limits, Descriptor),
    *(Whole, Done, Argument, UserLine, Snapshot, SavedRegion, Ranges, Verdict, Finding, Fix, Edit, Unchecked),
)
_OTHERS: dict[type, tuple[str, ...]] = {
    AffineBlock: ("base", "strides", "shape"),
    MaskBox: ("lower", "upper", "shape"),
    range: ("start", "stop", "step"),
}
_TABLE: dict[str, type] = {one.__name__: one for one in (*_DATACLASSES, *_OTHERS, Shown)}
# The number of an open file has no meaning on another machine.
_LEFT_OUT: dict[type, tuple[str, ...]] = {SavedRegion: ("file",)}
_ARRAYS = (AffineBlock, MaskBox)


def has(kind: type) -> bool:
    """Whether instances of this class can travel."""
    return _TABLE.get(kind.__name__) is kind


def fields_of(record: Any) -> dict[str, Any]:
    """The fields of a record that travel, by name."""
    kind: Any = type(record)
    if kind is Shown:
        return {"text": repr(record)}
    found = {name: getattr(record, name) for name in _names(kind)}
    if kind is Argument and not (record.value is None or type(record.value) in (bool, int, float, str)):
        found["value"] = Shown(repr(record.value)[:200])
    if kind is Whole:
        found["lines"] = dict(record.lines)
    return found


def made(name: Any, fields: Mapping[str, Any]) -> Any:
    """The record of this class with these fields. Raises DataError."""
    kind = _TABLE.get(name) if isinstance(name, str) else None
    if kind is None:
        raise DataError(_("a record {name} is not known").format(name=f"{name!r:.60}"))
    if kind is Shown:
        if set(fields) != {"text"} or type(fields["text"]) is not str:
            raise DataError(_("a Shown is not valid"))
        return Shown(fields["text"])
    if set(fields) != set(_names(kind)):
        raise DataError(_("the fields of a {name} are not valid").format(name=name))
    for field, hint in _hints(kind).items():
        if field in fields and not fits(fields[field], hint):
            raise DataError(_("{field} of a {name} is not valid").format(field=repr(field), name=name))
    if kind in _OTHERS:
        return kind(*(fields[one] for one in _OTHERS[kind]))
    return kind(**fields)


def fits(value: Any, hint: Any) -> bool:
    """Whether a received value is of a declared type."""
    if hint is Any:
        return True
    if hint is None or hint is type(None):
        return value is None
    origin, given = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in given)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in given)
    if origin is tuple:
        return type(value) is tuple and _all_fit(value, given)
    if origin is list:
        return type(value) is list and all(fits(one, given[0]) for one in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return type(value) is dict and all(fits(key, given[0]) and fits(one, given[1]) for key, one in value.items())
    if origin is np.ndarray:
        return type(value) is np.ndarray and _is_of(value.dtype, given[1])
    if hint is float:
        return type(value) in (int, float)
    return type(value) is hint


def _all_fit(values: tuple[Any, ...], hints: tuple[Any, ...]) -> bool:
    if len(hints) == 2 and hints[1] is Ellipsis:
        return all(fits(one, hints[0]) for one in values)
    return len(values) == len(hints) and all(map(fits, values, hints))


def _is_of(dtype: np.dtype[Any], hint: Any) -> bool:
    (kind,) = typing.get_args(hint) or (Any,)
    return kind is Any or dtype == np.dtype(kind)


@functools.cache
def _names(kind: Any) -> tuple[str, ...]:
    if kind in _OTHERS:
        return _OTHERS[kind]
    left_out = _LEFT_OUT.get(kind, ())
    return tuple(one.name for one in dataclasses.fields(kind) if one.init and one.name not in left_out)


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    if kind is range:
        return dict.fromkeys(_OTHERS[range], int)
    if kind in _ARRAYS:
        numbers = tuple[int, ...]
        arrays = tuple[np.ndarray[Any, np.dtype[np.int64]], ...]
        of_affine = {"base": np.ndarray[Any, np.dtype[np.int64]], "strides": numbers, "shape": numbers}
        return of_affine if kind is AffineBlock else {"lower": arrays, "upper": arrays, "shape": numbers}
    return typing.get_type_hints(kind)
