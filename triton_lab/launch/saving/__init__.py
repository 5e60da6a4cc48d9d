"""Launches as files, which `Launch.save` writes and `load` reads. A file holds only data, nothing that is executed.

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
