"""What each operation computes: one file per dialect, or per subject of a dialect.

Operations see values and frames. They know neither launches nor observers.
"""

import importlib
import pkgutil


def load_all() -> None:
    """Import every file, so that the registry is complete."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
