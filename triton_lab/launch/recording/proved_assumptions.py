"""The assumptions of the last proof of each kernel, with which its later launches are compared."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from triton_lab.launch.assumption import Condition, holds
from triton_lab.launch.recording.argument_contents import contents_range
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.localization import _

# The kernels of so many proofs are remembered.
_MOST = 256

_lock = threading.Lock()
_Key = tuple[str, int, str, tuple[tuple[str, str], ...]]
_assumed: OrderedDict[_Key, tuple[Condition, ...]] = OrderedDict()


def _key(launch: Recorded) -> _Key:
    """The kernel with its constants: a proof is about no other."""
    constants = tuple((a.name, repr(a.value)) for a in launch.arguments if a.kind == "constexpr")
    return launch.file, launch.first_line, launch.source, constants


def remember(launch: Recorded, conditions: Sequence[Condition]) -> None:
    """The kernel of ``launch`` was proved under these conditions."""
    with _lock:
        _assumed[_key(launch)] = tuple(conditions)
        _assumed.move_to_end(_key(launch))
        while len(_assumed) > _MOST:
            _assumed.popitem(last=False)


def broken(launch: Recorded) -> str:
    """The assumptions of the last proof of its kernel that a launch breaks, in words; "" if there are none."""
    if not _assumed:
        return ""
    with _lock:
        conditions = _assumed.get(_key(launch), ())
    tensors = {one.name: one for one in launch.arguments}

    def contents(name: str) -> tuple[int, int] | None:
        return contents_range(launch, tensors[name]) if name in tensors else None

    texts = [one.text for one in conditions if holds(one, launch.arguments, launch.grid, contents) is False]
    if not texts:
        return ""
    return _("the last proof of {kernel} does not hold for this launch, which breaks {conditions}").format(
        kernel=launch.kernel, conditions=", ".join(texts)
    )
