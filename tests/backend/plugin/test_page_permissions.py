"""What may be read and written in this process, up to the very byte where a mapping ends."""

from __future__ import annotations

import ctypes
import mmap
import os

import numpy as np
import pytest

from triton_lab.backend.plugin.page_permissions import is_of_bytes, peek, standing

PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)


@pytest.fixture
def pages():
    """Five pages: one that may be written, one that may only be read, two to write, and one to do nothing with."""
    mapping = mmap.mmap(-1, 5 * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
    protect = _libc.mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(start + PAGE, PAGE, mmap.PROT_READ) == 0
    assert protect(start + 4 * PAGE, PAGE, 0) == 0
    yield start
    assert protect(start, 5 * PAGE, mmap.PROT_READ | mmap.PROT_WRITE) == 0


def test_what_may_be_written_ends_with_its_page(pages):
    for low, high, writable in (
        (0, 1, True), (0, PAGE, True), (PAGE - 1, PAGE, True), (0, PAGE + 1, False), (PAGE - 1, PAGE + 1, False),
        (PAGE, PAGE + 1, False), (2 * PAGE - 1, 2 * PAGE + 1, False), (2 * PAGE, 4 * PAGE, True),
        (3 * PAGE - 1, 3 * PAGE + 1, True), (2 * PAGE, 4 * PAGE + 1, False), (4 * PAGE, 4 * PAGE + 1, False),
    ):  # fmt: skip
        assert standing(pages + low, pages + high).writable == writable, (low, high)
    assert not standing(1, 2).writable


def test_what_may_be_read_ends_with_the_pages_that_allow_it(pages):
    whole, beyond = standing(pages, pages + 4 * PAGE), standing(pages + 8, pages + 5 * PAGE)
    assert (whole.readable, whole.trouble) == (4 * PAGE, "")
    assert (beyond.readable, beyond.trouble) == (4 * PAGE - 8, "unreadable")
    assert peek(pages + 4 * PAGE - 1, pages + 4 * PAGE) is not None
    assert peek(pages + 4 * PAGE - 1, pages + 4 * PAGE + 1) is None
    assert (standing(1, 2).readable, standing(1, 2).trouble) == (0, "unmapped")


def test_of_a_file_that_was_cut_the_pages_that_are_left_are_counted(tmp_path):
    (file := tmp_path / "data").write_bytes(bytes(9 * PAGE))
    array = np.memmap(file, np.uint8, "r+")
    start, stop = array.ctypes.data, array.ctypes.data + len(array)
    assert standing(start, stop).trouble == ""
    for size, left in ((8 * PAGE + 1, 9), (8 * PAGE, 8), (3 * PAGE + 7, 4), (1, 1), (0, 0)):
        os.truncate(file, size)
        found = standing(start, stop)
        assert found.readable == left * PAGE and found.trouble == ("" if left == 9 else "cut"), size
    assert standing(start + 5, start + 6).readable == 0


def test_what_can_be_read_ends_with_what_is_mapped():
    _libc.mmap.restype = ctypes.c_void_p
    _libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long]
    _libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    start = _libc.mmap(None, 2 * PAGE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    end = start + PAGE
    assert _libc.munmap(end, PAGE) == 0
    try:
        ctypes.memset(start, 7, PAGE - 2)
        assert peek(end - 4, end) == b"\x07\x07\0\0" and peek(start, start) == b""
        assert peek(end - 2, end + 1) is None and peek(end, end + 1) is None
    finally:
        assert _libc.munmap(start, PAGE) == 0


def test_a_bytes_object_is_known_by_all_or_a_part_of_its_content():
    content = b"0123456789" * 7
    start = np.frombuffer(content, np.uint8).ctypes.data
    assert is_of_bytes(start, start + len(content)) and is_of_bytes(start, start + 5)
    assert not is_of_bytes(start, start + len(content) + 1)
    array = np.zeros(64, np.uint8)
    assert not is_of_bytes(array.ctypes.data, array.ctypes.data + 64)
    assert not any(is_of_bytes(low, low + 1) for low in (0, 8, 31, 32, 33))
