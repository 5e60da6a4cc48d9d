"""The speed figures of this machine: `python -m bench`.

Each module named in `__main__.SUBJECTS` has `measure(quick) -> list[Figure]`. What is timed runs in fresh processes
(`process`), so that no subject sees another's imports, caches or memory.
"""
