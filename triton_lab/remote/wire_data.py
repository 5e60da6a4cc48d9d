"""Messages as data: a JSON object and arrays in an archive, like a saved launch. Nothing in it is executed.

`packed` takes None, bool, int, float, str, bytes, list, tuple, dict, NumPy's arrays and numbers, torch's tensors,
recorded launches, and the records of `wire_records`; `unpacked` returns them. A subclass of a number or text becomes
its base type. Reading is limited in bytes, members and depth, whatever a peer claims.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.saving.file_format import Reader, SavedLaunchError, Writer
from triton_lab.localization import _
from triton_lab.remote.remote_errors import DataError, hold

ALLOWED = (
    "None, bool, int, float, str, bytes, list, tuple, dict, NumPy arrays, tensors and recorded launches can be sent"
)
_MEMBERS = 1 << 16
_NESTED = 24  # the depth of nested values; each level takes up to four in the JSON object
_DEPTH = 4 * _NESTED + 8
_LAUNCHES = 64
_ANY_SECONDS = 1e9
_DIGITS = 4000  # of an integer
_KINDS = "biufc"
_AXES = 64


class NotData(TypeError):
    """A value of a type that cannot travel."""


def packed(value: Any) -> bytes:
    """Pack ``value`` into an archive. Raises NotData, which names the type and its place."""
    writer = Writer()
    return writer.packed({"value": _plain(value, writer, "", 0)}, compressed=False)


def unpacked(data: bytes, most: int) -> Any:
    """Unpack a value of at most ``most`` bytes. Raises DataError for anything that `packed` does not make."""
    try:
        reader = Reader(data, most, members=_MEMBERS, depth=_DEPTH)
        if set(reader.head) != {"value"}:
            raise DataError(_("it has no value"))
        return _value(reader.head["value"], _Input(reader, most))
    except DataError:
        raise
    except SavedLaunchError as error:
        raise DataError(str(error)) from None
    except MemoryError:
        raise DataError(_("it needs more memory than the machine has")) from None
    except Exception as error:
        raise DataError(
            _("it breaks the format ({type}: {error})").format(type=type(error).__name__, error=f"{error!s:.200}")
        ) from None


def _plain(value: Any, writer: Writer, where: str, depth: int) -> Any:
    """The value in JSON's types, with numbers for arrays; ``where`` is its path in the whole value."""
    if depth > _NESTED:
        raise NotData(_("the value{where} is nested deeper than {nested} levels").format(where=where, nested=_NESTED))
    found = _simple(value)
    if found is not _OTHER:
        return found
    if type(value) is list:
        return {"list": [_plain(one, writer, f"{where}[{k}]", depth + 1) for k, one in enumerate(value)]}
    if type(value) is tuple:
        return {"tuple": [_plain(one, writer, f"{where}[{k}]", depth + 1) for k, one in enumerate(value)]}
    if isinstance(value, dict) and type(value).__module__ in ("builtins", "collections"):
        pairs = [
            [_plain(key, writer, where, depth + 1), _plain(one, writer, f"{where}[{key!r:.40}]", depth + 1)]
            for key, one in value.items()
        ]
        return {"dict": pairs}
    if isinstance(value, bytes | bytearray | memoryview):
        return {"bytes": writer.array(np.frombuffer(value, np.uint8))}
    if isinstance(value, np.ndarray):
        return {"array": _array(value, writer, where)}
    if isinstance(value, np.generic):
        return {"number": _array(np.asarray(value), writer, where)}
    return _known(value, writer, where, depth)


_OTHER = object()


def _simple(value: Any) -> Any:
    """The value if JSON has its type."""
    if value is None or type(value) is bool:
        return value
    if isinstance(value, np.generic):
        return _OTHER
    if isinstance(value, int):
        if value.bit_length() > 3 * _DIGITS:
            raise NotData(
                _("an integer of {bit_length} bits is too large to be sent").format(bit_length=value.bit_length())
            )
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    return str.__str__(value) if isinstance(value, str) else _OTHER


def _known(value: Any, writer: Writer, where: str, depth: int) -> Any:
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.recording.launch_list import Launches
    from triton_lab.remote import wire_records

    if type(value) is Launches:
        return {"launches": [_plain(one, writer, f"{where}[{k}]", depth + 1) for k, one in enumerate(value)]}
    if wire_records.has(type(value)):
        fields = wire_records.fields_of(value)
        inner = {name: _plain(one, writer, f"{where}.{name}", depth + 1) for name, one in fields.items()}
        return {"record": type(value).__name__, "fields": inner}
    if isinstance(value, Launch):
        from triton_lab.launch.saving.launch_writer import packed as saved

        return {"launch": writer.array(np.frombuffer(saved(value), np.uint8))}
    import torch

    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided or value.is_quantized:
            raise NotData(
                _("the value{where} is a tensor that has no strides: {allowed}").format(where=where, allowed=ALLOWED)
            )
        whole = value.detach().cpu().contiguous()
        raw = whole.reshape(-1).view(torch.uint8).numpy() if whole.numel() else np.empty(0, np.uint8)
        return {"tensor": [writer.array(raw), str(value.dtype).removeprefix("torch."), list(value.shape)]}
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    raise NotData(
        _("the value{where} is of the type {name}, which cannot be sent: {allowed}").format(
            where=where, name=name, allowed=ALLOWED
        )
    )


def _array(array: NDArray[Any], writer: Writer, where: str) -> list[Any]:
    if array.dtype.kind not in _KINDS and not hasattr(ml_dtypes, array.dtype.name):
        raise NotData(
            _("the value{where} is an array of the type {dtype}, which cannot be sent: arrays of numbers can").format(
                where=where, dtype=array.dtype
            )
        )
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8) if array.size else np.empty(0, np.uint8)
    dtype = array.dtype.newbyteorder("=") if array.dtype.isnative else array.dtype
    name = dtype.name if dtype.isnative else dtype.str
    return [writer.array(raw), name, list(array.shape)]


class _Input:
    """An archive being read: an array with many references must not take more memory than the archive may."""

    def __init__(self, reader: Reader, most: int) -> None:
        self._reader, self._left, self.launches = reader, most, 0

    def array(self, number: Any) -> NDArray[Any]:
        found = self._reader.array(number)
        self._left -= found.nbytes
        hold(self._left >= 0, _("the size of its arrays"))
        return found


def _value(plain: Any, given: _Input) -> Any:
    if plain is None or type(plain) in (bool, int, float, str):
        return plain
    if type(plain) is dict and set(plain) == {"record", "fields"}:
        from triton_lab.remote import wire_records

        hold(type(plain["fields"]) is dict, "a record")
        return wire_records.made(plain["record"], {name: _value(one, given) for name, one in plain["fields"].items()})
    hold(type(plain) is dict and len(plain) == 1, "a value")
    ((kind, inner),) = plain.items()
    hold(kind in _READ, _("a kind of value"))
    return _READ[kind](inner, given)


def _items(plain: Any, given: _Input) -> list[Any]:
    hold(type(plain) is list, "a list")
    return [_value(one, given) for one in plain]


def _pairs(plain: Any, given: _Input) -> dict[Any, Any]:
    hold(type(plain) is list and all(type(one) is list and len(one) == 2 for one in plain), "a dict")
    return {_value(key, given): _value(one, given) for key, one in plain}


def _float(plain: Any, given: _Input) -> float:
    hold(plain in ("nan", "inf", "-inf"), "a number")
    return float(plain)


def _bytes(number: Any, given: _Input) -> NDArray[np.uint8]:
    array = given.array(number)
    hold(array.dtype == np.uint8 and array.ndim == 1, "bytes")
    return array


def _shaped(plain: Any, given: _Input) -> tuple[NDArray[np.uint8], str, tuple[int, ...]]:
    hold(type(plain) is list and len(plain) == 3, "an array")
    number, name, shape = plain
    hold(type(name) is str and type(shape) is list and len(shape) <= _AXES, "an array's shape")
    hold(all(type(one) is int and 0 <= one < 1 << 62 for one in shape), "an array's shape")
    return _bytes(number, given), name, tuple(shape)


def _numpy(plain: Any, given: _Input) -> NDArray[Any]:
    raw, name, shape = _shaped(plain, given)
    dtype = np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)
    hold(not dtype.hasobject and dtype.names is None and dtype.subdtype is None, "an array's type")
    hold(dtype.kind in _KINDS or hasattr(ml_dtypes, dtype.name), "an array's type")
    hold(0 < dtype.itemsize <= 32 and math.prod(shape) * dtype.itemsize == raw.size, "an array's size")
    return np.array(raw).view(dtype).reshape(shape)


def _number(plain: Any, given: _Input) -> Any:
    array = _numpy(plain, given)
    hold(array.shape == (), "a number")
    return array[()]


def _tensor(plain: Any, given: _Input) -> Any:
    import torch

    raw, name, shape = _shaped(plain, given)
    dtype = getattr(torch, name, None)
    hold(isinstance(dtype, torch.dtype), "a tensor's type")
    assert isinstance(dtype, torch.dtype)
    hold(math.prod(shape) * dtype.itemsize == raw.size, "a tensor's size")
    if not raw.size:
        return torch.empty(shape, dtype=dtype)
    return torch.from_numpy(np.array(raw)).view(dtype).reshape(shape)


def _launch(number: Any, given: _Input) -> Any:
    from triton_lab.launch.saving.launch_reader import unpacked as loaded

    given.launches += 1
    hold(given.launches <= _LAUNCHES, "so many launches")
    # No deadline for reading a launch that the notebook asked for: a replay has its own.
    return loaded(_bytes(number, given).tobytes(), max_seconds=_ANY_SECONDS)


def _launches(plain: Any, given: _Input) -> Any:
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.recording.launch_list import Launches

    found = _items(plain, given)
    hold(all(isinstance(one, Launch) for one in found), "launches")
    return Launches(found)


_READ: dict[str, Callable[[Any, _Input], Any]] = {
    "list": _items,
    "tuple": lambda plain, given: tuple(_items(plain, given)),
    "dict": _pairs,
    "float": _float,
    "bytes": lambda plain, given: _bytes(plain, given).tobytes(),
    "array": _numpy,
    "number": _number,
    "tensor": _tensor,
    "launch": _launch,
    "launches": _launches,
}
