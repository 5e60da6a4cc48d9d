"""Launches as files: what `Launch.save` writes and `load` reads, with nothing in them that is executed.

A file is a zip archive with ``head.json`` and arrays in NumPy's format, no pickles. ``head.json`` is one object:
``format`` "triton-lab launch", ``version`` (`FORMAT`), the launch's fields by their names, ``plan`` and ``twin`` the
kernel and its probed twin as MLIR's generic text. What was added later may be missing: ``time``, how long the kernel
took on a GPU; ``tuning``, what an autotuner tried; ``compilations``, what compilers for GPUs made of the kernel, with
stages as arrays of bytes. An array is named by a number, ``arrays/<number>.npy``, where the object refers to it; since
version 2 ``arrays/<number>-<other>.npy`` has the bits in which it differs from that other one, which comes before it.
The kernel is read as data and run by the interpreter on the memory in the file, and on no other.
"""

FORMAT = 2
NAME = "triton-lab launch"
"""What ``format`` says."""
