"""Every field of a saved launch comes back; each is held to its rule, on both sides of every bound."""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import triton_lab as lab
from tests.launch.comparison.kernels import exponential, recorded
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.verdict import Unchecked, Verdict
from triton_lab.launch.launch import Launch
from triton_lab.launch.saving import file_format, launch_reader
from triton_lab.launch.saving.file_format import Reader, Writer

Head = dict[str, Any]


@pytest.fixture(scope="module")
def launch() -> Launch:
    return recorded(lambda: exponential[(2,)](torch.rand(64), torch.empty(64), BLOCK=32))


@pytest.fixture(scope="module")
def saved(launch: Launch, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    path = tmp_path_factory.mktemp("saved") / "one.launch"
    launch.save(path)
    with zipfile.ZipFile(path) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def packed(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as opened:
        for name, data in members.items():
            opened.writestr(name, data)
    return path


def as_file(array: np.ndarray, **options: Any) -> bytes:
    data = io.BytesIO()
    np.lib.format.write_array(data, array, allow_pickle=False, **options)
    return data.getvalue()


def test_every_field_comes_back(launch: Launch, tmp_path: Path) -> None:
    arrays = {name: np.arange(2) + k for k, name in enumerate(("programs", "lanes", "elements", "events"))}
    finding = Finding(
        "race", "a message", "a hint", kernel="k", file="f.py", line=5, column=3, argument="x_ptr", count=9,
        stopped=True, excerpt=("one", "two"), orders=("first", "second"), values=np.array([0.5, -2.0]), **arrays,
    )  # fmt: skip
    other = dataclasses.replace(
        launch, thread="T-1", printed="said\n", remark="remarked", dropped="dropped", seconds=0.25, file="f.py",
        first_line=17, configs=[("BLOCK=32", 0.5), ("BLOCK=64", 1.0)],
    )  # fmt: skip
    vars(other)["verdict"] = Verdict([finding], [Unchecked("what", "why")])
    other.save(tmp_path / "x")
    found = lab.load(tmp_path / "x")
    for name in ("kernel", "grid", "target", "source", "first_line", "file", "thread", "seconds", "printed", "dropped"):
        assert getattr(found, name) == getattr(other, name), name
    assert (found.remark, found.configs, found.error) == ("remarked", other.configs, None)
    assert found.unchecked == [Unchecked("what", "why")] and found.lines == {
        index: line for index, line in other.lines.items() if line is not None
    }
    (kept,) = found.findings
    for field in dataclasses.fields(Finding):
        mine, theirs = getattr(kept, field.name), getattr(finding, field.name)
        same = np.array_equal(mine, theirs) if isinstance(theirs, np.ndarray) else mine == theirs
        assert same, field.name
    assert found.arguments == launch.arguments
    twins = [[(one.number, one.name, one.line) for one in each.twin.variables] for each in (found, launch)]
    assert twins[0] == twins[1]
    for mine, theirs in zip(found.snapshot.regions, launch.snapshot.regions, strict=True):
        assert (mine.start, mine.verified, mine.writable) == (theirs.start, theirs.verified, theirs.writable)
        assert mine.data.tobytes() == theirs.data.tobytes()
    assert found.snapshot.owners == launch.snapshot.owners


def argument(**fields: Any) -> Callable[[Head], None]:
    return lambda head: head["arguments"][0].update(fields)


def at(*path: Any, value: Any) -> Callable[[Head], None]:
    def change(head: Head) -> None:
        place: Any = head
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


def to_regions(**moved: int) -> Callable[[Head], None]:
    """Both regions one after the other, the second so many bytes behind the end of the first."""

    def change(head: Head) -> None:
        starts = {0: 4096, 1: 4096 + 256 + moved["gap"]}
        head["regions"] = [[starts[k], *rest] for k, (_, *rest) in enumerate(head["regions"])]
        head["owners"] = [[start] for start in starts.values()]

    return change


ALLOWED: dict[str, Callable[[Head], None]] = {
    "nothing is changed": lambda head: None,
    "a batch of one": at("batch", value=1),
    "no limit of memory": at("memory", value=None),
    "seconds that are whole": at("seconds", value=3),
    "an error": at("error", value="it failed"),
    "a shape of nothing": argument(shape=[0], strides=[1]),
    "as many axes as can be": argument(shape=[1] * 16, strides=[0] * 16),
    "an argument that shows itself": argument(value={"shown": "<it>"}),
    "a value that is a text": argument(value="text"),
    "a value that is a number": argument(value=1.5),
    "no twin": at("twin", value=None),
    "no lines": at("lines", value=[]),
    "an owner that is anybody": at("owners", value=[None, None]),
}
REFUSED: dict[str, tuple[Callable[[Head], None], str]] = {
    "no program": (at("grid", value=[2, 0, 1]), "a grid of 0 programs"),
    "fewer programs than none": (at("grid", value=[-1, -2, 1]), "a grid of 2 programs"),
    "a grid of another size": (at("grid", value=[2, 1]), "breaks the format"),
    "more programs than are run": (at("grid", value=[2**24 + 1, 1, 1]), "a grid of"),
    "a batch of none": (at("batch", value=0), "the batch"),
    "a batch that is true": (at("batch", value=True), "a bool .* int "),
    "an error that is a number": (at("error", value=3), "a int .* str "),
    "fewer strides than axes": (argument(shape=[4, 4], strides=[1]), "a tensor's shape"),
    "a negative extent": (argument(shape=[-1], strides=[1]), "a tensor's shape"),
    "too many axes": (argument(shape=[1] * 17, strides=[0] * 17), "a tensor's shape"),
    "a negative stride": (argument(strides=[-1]), "a tensor's strides"),
    "elements of another size": (argument(itemsize=8), "an element's size"),
    "a tensor too large": (argument(shape=[2**28 + 1]), "a tensor's size"),
    "a value that is a list": (argument(value=[1]), "an argument's value"),
    "an argument without a name": (argument(name=None), "a NoneType .* str "),
    "an offset that is half": (argument(offset=0.5), "a float .* int "),
    "a variable that is missing": (lambda head: head["twin"]["variables"].pop(0), "the variables"),
    "a region below zero": (at("regions", 0, 0, value=-4096), "a region's address"),
    "a region beyond all": (at("regions", 0, 0, value=2**63 - 256), "a region's address"),
    "a region of numbers": (at("regions", 0, 1, value=0), "a region"),
    "a region that is perhaps writable": (at("regions", 0, 3, value=1), "a int .* bool "),
    "regions that share a byte": (to_regions(gap=-1), "regions that overlap"),
    "an owner that is no region": (at("owners", 0, value=[7]), "the owners"),
    "a value of another width": (at("values", 0, "dtype", value="int32"), "an argument's number"),
    "a value that is a region": (at("values", 0, "array", value=2), "an argument's number"),
    "a value of objects": (at("values", 0, "dtype", value="object"), "a dtype"),
    "a value of no bytes": (at("values", 0, "dtype", value="V0"), "a dtype"),
    "a value of a text": (at("values", 0, "dtype", value="U2"), "a dtype"),
    "seconds that are a text": (at("seconds", value="3"), "a number"),
    "an array that is not there": (at("values", 0, "array", value=99), "it has no array 99"),
    "an array by another name": (at("values", 0, "array", value=True), "it has no array True"),
    "an output of nothing": (at("outputs", value=[["x", "float32", 2, 0]]), "an output"),
    "an output of another width": (at("outputs", value=[["x", "float32", 2, 3]]), "an output"),
    "an output of no dtype": (at("outputs", value=[["x", "nn", 2, 3]]), "a dtype"),
    "an older version": (at("version", value=0), "it has version 0"),
    "a list": (lambda head: head.clear(), "it is not a launch of triton-lab"),
}


def rewritten(saved: dict[str, bytes], change: Callable[[Head], None], folder: Path) -> Path:
    head = json.loads(saved["head.json"])
    change(head)
    return packed(folder / "x", {**saved, "head.json": json.dumps(head).encode()})


@pytest.mark.parametrize("what", ALLOWED)
def test_what_may_be_is_loaded(what: str, saved: dict[str, bytes], tmp_path: Path) -> None:
    assert lab.load(rewritten(saved, ALLOWED[what], tmp_path)).kernel == "exponential"


@pytest.mark.parametrize("what", REFUSED)
def test_what_may_not_be_is_refused(what: str, saved: dict[str, bytes], tmp_path: Path) -> None:
    change, told = REFUSED[what]
    with pytest.raises(lab.SavedLaunchError, match=told):
        lab.load(rewritten(saved, change, tmp_path))


def test_regions_may_lie_side_by_side(saved: dict[str, bytes], tmp_path: Path) -> None:
    """What the kernel then touches is not there: it stops, but not for the file."""
    for gap in (0, 1):
        with pytest.raises(lab.SavedLaunchError) as caught:
            lab.load(rewritten(saved, to_regions(gap=gap), tmp_path))
        assert "is not valid" not in str(caught.value)


@pytest.mark.parametrize("most", [31, 32])
def test_blocks_are_bounded(most: int, saved: dict[str, bytes], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(launch_reader, "_BLOCK", most)
    path = rewritten(saved, ALLOWED["nothing is changed"], tmp_path)
    if most == 32:
        assert lab.load(path).programs == 2
    else:
        with pytest.raises(lab.SavedLaunchError, match="a block of 32 elements"):
            lab.load(path)


def test_limits_of_a_loaded_launch_are_the_files_and_ours(saved: dict[str, bytes], tmp_path: Path) -> None:
    for memory, bound in ((1 << 20, 1 << 20), (None, 1 << 30), (1 << 40, 1 << 30)):
        found = lab.load(rewritten(saved, at("memory", value=memory), tmp_path))
        assert found.tape.limits.memory == bound and found.tape.limits.steps == 10_000_000
    assert lab.load(rewritten(saved, at("batch", value=2), tmp_path)).tape.limits.batch == 2


# --- The archive ----------------------------------------------------------------------------------


def read(folder: Path, arrays: list[bytes], head: Any = None, most: int = 1 << 20) -> Reader:
    members = {"head.json": json.dumps({} if head is None else head).encode()}
    members |= {f"arrays/{number}.npy": data for number, data in enumerate(arrays)}
    return Reader(packed(folder / "x", members), most)


@pytest.mark.parametrize("kind", ["b1", "i1", "i8", "u2", "f4", "f2"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4)])
def test_arrays_come_back(kind: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    writer = Writer()
    arrays = [np.arange(int(np.prod(shape))).reshape(shape).astype(kind), np.zeros((2, 2)).T]
    numbers = [writer.array(array) for array in arrays]
    writer.write(tmp_path / "x", {"numbers": numbers})
    reader = Reader(tmp_path / "x", 1 << 20)
    assert reader.head == {"numbers": [0, 1]}
    for number, array in zip(numbers, arrays, strict=True):
        found = reader.array(number)
        assert found.dtype == array.dtype and found.shape == (array.shape or (1,)[: found.ndim])
        assert np.array_equal(found.reshape(array.shape), array) and not found.flags.writeable


def test_arrays_of_either_version_are_read_and_no_others(tmp_path: Path) -> None:
    numbers = np.arange(6).reshape(2, 3)
    for version in ((1, 0), (2, 0)):
        assert np.array_equal(read(tmp_path, [as_file(numbers, version=version)]).array(0), numbers)
    good = as_file(numbers)
    for bad, told in (
        (as_file(numbers, version=(3, 0)), "is not"),
        (good[:-1], "does not match its header"),
        (good + b"x", "does not match its header"),
        (as_file(np.asfortranarray(numbers)), "does not match its header"),
        (as_file(numbers.astype(complex)), "does not match its header"),
        (as_file(np.array([b"xy"])), "does not match its header"),
        (b"", "is not"),
    ):
        reader = read(tmp_path, [bad])
        with pytest.raises(lab.SavedLaunchError, match=f"array 0 {told}"):
            reader.array(0)
    for number in (1, -1, "0", 0.0, True, None):
        with pytest.raises(lab.SavedLaunchError, match="no array"):
            read(tmp_path, [good]).array(number)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8"])
def test_an_array_that_is_told_from_another_is_itself_again(tmp_path: Path, dtype: str) -> None:
    random = np.random.default_rng(5)
    first = random.normal(0, 50, (40, 30)).astype(dtype)
    second = first.copy()
    second[7] += 1
    writer = Writer()
    number = writer.array(second, near=writer.array(first))
    writer.write(tmp_path / "x", {})
    reader = Reader(tmp_path / "x", 1 << 20)
    assert np.array_equal(reader.array(number), second) and not reader.array(number).flags.writeable
    apart = Writer()
    apart.array(first), apart.array(second)
    apart.write(tmp_path / "y", {})
    assert (tmp_path / "x").stat().st_size < 0.7 * (tmp_path / "y").stat().st_size


def test_an_array_is_told_from_one_like_it_that_stands_by_itself(tmp_path: Path) -> None:
    one, wide = as_file(np.arange(4)), as_file(np.arange(8))
    for members in (
        {"arrays/0-0.npy": one},
        {"arrays/0-1.npy": one, "arrays/1.npy": one},
        {"arrays/0.npy": wide, "arrays/1-0.npy": one},
        {"arrays/0.npy": as_file(np.arange(4.0)), "arrays/1-0.npy": one},
        {"arrays/0.npy": one, "arrays/1-0.npy": one, "arrays/2-1.npy": one},
        {"arrays/1-5.npy": one, "arrays/0.npy": one},
    ):
        path = packed(tmp_path / "x", {"head.json": b"{}", **members})
        told = next(name for name in reversed(members) if "-" in name)
        with pytest.raises(lab.SavedLaunchError, match=rf"array {told[7]}\b"):
            Reader(path, 1 << 20).array(int(told[7]))
    both = packed(tmp_path / "x", {"head.json": b"{}", "arrays/0.npy": one, "arrays/0-0.npy": one})
    with pytest.raises(lab.SavedLaunchError, match="members that"):
        Reader(both, 1 << 20)


def test_an_archive_may_be_as_large_as_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array = as_file(np.zeros(8))
    size = len(array) + 2
    assert read(tmp_path, [array], most=size).head == {}
    with pytest.raises(lab.SavedLaunchError, match="unpacks to"):
        read(tmp_path, [array], most=size - 1)
    monkeypatch.setattr(file_format, "_MEMBERS", 2)
    assert read(tmp_path, [array]).head == {}
    with pytest.raises(lab.SavedLaunchError, match=r"3 members.* at most 2"):
        read(tmp_path, [array, array])
    monkeypatch.setattr(file_format, "_HEAD_BYTES", 9)
    assert read(tmp_path, [], head={"a": 12}).head == {"a": 12}
    with pytest.raises(lab.SavedLaunchError, match=r"its head\.json has more"):
        read(tmp_path, [], head={"a": 123})


@pytest.mark.parametrize("head", [[], "x", 3, [{}]])
def test_the_head_is_an_object(head: Any, tmp_path: Path) -> None:
    with pytest.raises(lab.SavedLaunchError, match="head"):
        read(tmp_path, [], head=head)


@pytest.mark.parametrize("wrap", [lambda inner: {"a": inner}, lambda inner: [inner]])
def test_the_head_is_no_deeper_than_allowed(wrap: Callable[[Any], Any], tmp_path: Path) -> None:
    inner: Any = 1
    for _ in range(31):
        inner = wrap(inner)
    assert read(tmp_path, [], head={"a": inner}).head == {"a": inner}
    with pytest.raises(lab.SavedLaunchError, match="head"):
        read(tmp_path, [], head={"a": wrap(inner)})
    # All of it is looked at, not the first alone.
    with pytest.raises(lab.SavedLaunchError, match="head"):
        read(tmp_path, [], head={"b": [1, 2], "a": [0, wrap(inner)]})


def test_members_are_known_and_there_once(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x", "w") as opened:
        opened.writestr("head.json", "{}")
        with pytest.warns(UserWarning, match="Duplicate"):
            opened.writestr("head.json", "{}")
    with pytest.raises(lab.SavedLaunchError, match="members that"):
        Reader(tmp_path / "x", 1 << 20)
    for name in ("arrays/2.npy", "arrays/-1.npy", "other"):
        packed(tmp_path / "x", {"head.json": b"{}", name: as_file(np.zeros(1))})
        with pytest.raises(lab.SavedLaunchError, match="members that"):
            Reader(tmp_path / "x", 1 << 20)


@pytest.mark.parametrize(
    "wrong", [{"num_warps": 0}, {"num_warps": 1 << 11}, {"num_stages": "3"}, {"maxnreg": True}, [4], {"num_ctas": 1.0}]
)
def test_options_are_small_whole_numbers(wrong: Any, saved: dict[str, bytes], tmp_path: Path) -> None:
    head = json.loads(saved["head.json"])
    with pytest.raises(lab.SavedLaunchError):
        lab.load(packed(tmp_path / "x", {**saved, "head.json": json.dumps({**head, "options": wrong}).encode()}))


def test_options_of_other_names_are_left_out(saved: dict[str, bytes], tmp_path: Path) -> None:
    head = json.loads(saved["head.json"])
    given = {**head["options"], "num_warps": 8, "extern_libs": "/etc/passwd"}
    loaded = lab.load(packed(tmp_path / "x", {**saved, "head.json": json.dumps({**head, "options": given}).encode()}))
    assert vars(loaded.compiled[1]) == {**head["options"], "num_warps": 8}
