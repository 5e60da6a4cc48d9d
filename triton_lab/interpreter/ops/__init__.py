"""What each operation does, one file per dialect or subject of one.

They see values and frames, and know neither launches nor who watches.
"""

import importlib
import pkgutil


def load_all() -> None:
    """Import every file, so that the registry is complete."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
