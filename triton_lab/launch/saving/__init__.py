"""Launches as files, which hold only data, nothing that is executed.

In: a `Launch` (`save`), or a file (`load`). Out: a file, or a `Launch`. Read `save`, `archive` (the file), `load`,
`checked_fields`, then `admission` (whether a launch from a file may run).

A file is a zip archive with ``head.json`` and arrays in NumPy's format, without pickles. ``head.json`` is one object:
``format`` is "triton-lab launch", ``version`` is `FORMAT`, the launch's fields have their names, and ``plan`` and
``twin`` are the kernel and its probed twin as MLIR's generic text. Fields that were added later may be missing:
``time``, the kernel's time on a GPU; ``tuning``, what an autotuner tried; ``compilations``, the results of GPU
compilers, with stages as arrays of bytes. The object refers to an array by a number: ``arrays/<number>.npy``. Since
version 2, ``arrays/<number>-<other>.npy`` has the bits in which an array differs from an earlier one, ``<other>``.
The kernel is read as data; the interpreter runs it on the memory in the file and on no other memory.
"""

FORMAT = 2
NAME = "triton-lab launch"
"""The value of ``format``."""
