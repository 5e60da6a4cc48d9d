"""What each operation does, one file per dialect or subject of one.

They see values and frames, and know neither launches nor who watches.
"""

import importlib

_SUBJECTS = (
    "atomics",
    "casts",
    "comparisons",
    "constants",
    "control",
    "descriptors",
    "dot",
    "dot_scaled",
    "floats",
    "grid",
    "integers",
    "lanes",
    "libdevice",
    "math",
    "memory",
    "output",
    "reductions",
    "shapes",
)


def load_all() -> None:
    """Import every file, so that the registry is complete."""
    for subject in _SUBJECTS:
        importlib.import_module(f"{__name__}.{subject}")
