"""A launch that was saved and loaded says what it said before; a file that was tampered with gives one clear error."""

from __future__ import annotations

import contextlib
import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import triton_lab as lab
from tests.gluon import cases
from tests.kernels import double
from tests.launch.comparison.kernels import copied, exponential, recorded
from triton_lab.backend.plugin import launcher
from triton_lab.examples import example
from triton_lab.interpreter.machine import Limits
from triton_lab.launch.comparison.launch_results import before, of_launch
from triton_lab.launch.launch import Launch
from triton_lab.views.launch.gallery import launches_of

NAMES = ["softmax", "matmul_bfloat16", "layer_norm", "split_k_matmul", "dropout", "int4_matmul", "attention_causal"]


def again(launch: Launch, folder: Path) -> Launch:
    launch.save(folder / "one.launch")
    return lab.load(folder / "one.launch")


@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_launch_is_the_saved_one(name: str, tmp_path: Path) -> None:
    launch = launches_of(example(name))[0]
    loaded = again(launch, tmp_path)
    for field in ("kernel", "grid", "target", "source", "first_line", "seconds", "dropped", "programs"):
        assert getattr(loaded, field) == getattr(launch, field)
    told = [[(one.kind, one.argument, one.line) for one in each.accesses] for each in (launch, loaded)]
    assert told[0] == told[1]
    for mine, theirs in zip(launch.accesses, loaded.accesses, strict=True):
        assert np.array_equal(mine.address(), theirs.address()) and np.array_equal(mine.mask(), theirs.mask())
    assert [str(one) for one in loaded.findings] == [str(one) for one in launch.findings]
    assert lab.compare(launch, loaded).verdict == "bit-equal"
    for name, array in before(launch).items():
        assert before(loaded)[name].tobytes() == array.tobytes()
    assert repr(loaded.arguments) == repr(launch.arguments)


def test_pictures_and_values_of_a_loaded_launch(tmp_path: Path) -> None:
    launch = launches_of(example("softmax"))[0]
    loaded = again(launch, tmp_path)
    for make in (
        lambda one: one.plot.tiling("x_ptr"),
        lambda one: one.plot.accesses("y_ptr"),
        lambda one: one.plot.storage("x_ptr"),
        lambda one: one.plot.grid(),
    ):
        assert make(loaded).text() == make(launch).text()
    name = launch.variables[-1].name
    assert np.array_equal(loaded.values(name).at(), launch.values(name).at(), equal_nan=True)
    assert loaded._repr_mimebundle_()[0]["text/plain"]
    steps = [[(one.kind, one.line, one.name) for one in each.trace(1).steps] for each in (launch, loaded)]
    assert steps[0] == steps[1] and any(kind == "store" and line for kind, line, _ in steps[1])
    for mine, theirs in zip(launch.trace(1).steps, again(loaded, tmp_path).trace(1).steps, strict=True):
        assert np.array_equal(mine.values, theirs.values, equal_nan=True)


def test_both_results_of_a_launch_on_the_gpu_are_kept(tmp_path: Path) -> None:
    from dataclasses import replace

    launch = recorded(lambda: exponential[(1,)](torch.rand(32), torch.empty(32), BLOCK=32))
    ours = torch.from_numpy(of_launch(launch).arrays["out_ptr"])
    for dtype in (torch.float32, torch.bfloat16, torch.float8_e4m3fn):
        gpu = replace(launch, target="gpu", outputs=[("out_ptr", (ours * 2).to(dtype), ours.to(dtype))])
        (kept,) = again(gpu, tmp_path).outputs
        assert kept[0] == "out_ptr" and kept[1].dtype == dtype
        assert torch.equal(kept[1].float(), (ours * 2).to(dtype).float())


def test_a_launch_that_failed_fails_the_same_way(tmp_path: Path) -> None:
    with lab.target("cpu"), lab.record() as launches, pytest.raises(lab.KernelError):
        copied[(2,)](torch.rand(40), torch.zeros(64), BLOCK=32, SHIFT=0)
    loaded = again(launches[0], tmp_path)
    assert str(loaded.error) == str(launches[0].error)
    assert loaded.stopped is not None
    assert [str(one) for one in loaded.findings] == [str(one) for one in launches[0].findings]


def test_what_cannot_be_replayed_cannot_be_saved(tmp_path: Path) -> None:
    with lab.target("cpu"), lab.record(max_bytes=64) as launches:
        exponential[(1,)](torch.rand(1024), torch.empty(1024), BLOCK=1024)
    with pytest.raises(lab.CannotReplay, match=r"exponential .*record\(max_bytes="):
        launches[0].save(tmp_path / "x")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("saved") / "one.launch"
    recorded(lambda: exponential[(2,)](torch.rand(64), torch.empty(64), BLOCK=32)).save(path)
    return path.read_bytes()


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(found: dict[str, bytes]) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in found.items():
            archive.writestr(name, data)
    return whole.getvalue()


def refused(data: bytes, folder: Path, **options: Any) -> str:
    path = folder / "bad.launch"
    path.write_bytes(data)
    with pytest.raises(lab.SavedLaunchError) as caught:
        lab.load(path, **options)
    assert str(caught.value).startswith(f"{path} is not a launch that can be loaded: ")
    return str(caught.value)


def test_damaged_files_give_one_error_or_load(saved: bytes, tmp_path: Path) -> None:
    chance = random.Random(1)
    path = tmp_path / "bad.launch"
    for _ in range(150):
        data = bytearray(saved)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(bytes(data[: chance.choice([len(data), chance.randrange(len(data))])]))
        with contextlib.suppress(lab.SavedLaunchError):
            lab.load(path)


def test_an_archive_whose_directory_lies_before_its_beginning_is_refused(saved: bytes, tmp_path: Path) -> None:
    data = bytearray(saved)
    at = data.rindex(b"PK\x05\x06") + 16  # where the directory begins, as the archive's end says
    data[at : at + 4] = (int.from_bytes(data[at : at + 4], "little") + 50_000).to_bytes(4, "little")
    assert "readable archive" in refused(bytes(data), tmp_path)


def test_fields_of_a_stranger_give_one_error_or_load(saved: bytes, tmp_path: Path) -> None:
    chance = random.Random(2)
    odd: list[Any] = [None, -1, 2**70, 1.5, float("nan"), "x", [], [1, 2], {}, True, [[["x"]]], "0" * 5000]
    found = members(saved)
    head = json.loads(found["head.json"])
    path = tmp_path / "bad.launch"
    for _ in range(250):
        other = json.loads(json.dumps(head))
        at: Any = other
        while True:
            key = chance.choice(list(at) if isinstance(at, dict) else range(len(at)))
            if isinstance(at[key], dict | list) and at[key] and chance.random() < 0.7:
                at = at[key]
                continue
            at[key] = chance.choice(odd)
            break
        path.write_bytes(packed({**found, "head.json": json.dumps(other).encode()}))
        try:
            loaded = lab.load(path)
        except lab.SavedLaunchError:
            continue
        assert isinstance(loaded, Launch)


def test_hostile_archives_are_refused(saved: bytes, tmp_path: Path) -> None:
    found = members(saved)
    assert "readable archive" in refused(b"", tmp_path)
    assert "readable archive" in refused(b"PK" + bytes(100), tmp_path)
    assert "no head.json" in refused(packed({}), tmp_path)
    assert "members that" in refused(packed({**found, "../evil.py": b""}), tmp_path)
    bomb = packed({**found, "arrays/0.npy": bytes(64 << 20)})
    assert len(bomb) < 1 << 20
    assert "64 MB, but" in refused(bomb, tmp_path, max_bytes=16 << 20)
    deep = b"[" * 100_000 + b"]" * 100_000
    assert "not JSON" in refused(packed({**found, "head.json": deep}), tmp_path)
    assert "5000 members" in refused(packed({f"arrays/{k}.npy": b"" for k in range(5000)}), tmp_path)


def test_pickles_and_huge_arrays_are_refused(saved: bytes, tmp_path: Path) -> None:
    found = members(saved)
    pickled = io.BytesIO()
    np.save(pickled, np.array([{}], object), allow_pickle=True)
    names = [name for name in found if name.startswith("arrays/")]
    claim = b"\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000000,), }"
    for data in (pickled.getvalue(), claim.ljust(128)):
        refused(packed({**found, **dict.fromkeys(names, data)}), tmp_path)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("version", 99, "version 99"),
        ("format", "other", "triton-lab"),
        ("grid", [2**20, 2**20, 1], "a grid of"),
        ("plan", "", "breaks the format"),
        ("owners", [[1], [2]], "the owners"),
        ("kernel", 5, "int"),
    ],
)
def test_each_field_is_held_to_its_rules(saved: bytes, tmp_path: Path, field: str, value: Any, told: str) -> None:
    found = members(saved)
    head = json.loads(found["head.json"])
    head[field] = value
    assert told in refused(packed({**found, "head.json": json.dumps(head).encode()}), tmp_path)


def test_a_file_that_is_not_there_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        lab.load(tmp_path / "nothing")


def test_what_was_compiled_opens_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_lab.compiled import compiler_client, serialization

    x = torch.rand(1000)
    with lab.record() as launches:
        double[(8,)](x, torch.empty(1000), 1000, BLOCK=128)
    made = launches[0].compile(["sm_90", "gfx942"])
    launches[0].save(tmp_path / "two")
    monkeypatch.setattr(compiler_client, "ask", None)
    loaded = lab.load(tmp_path / "two")
    assert [one.target for one in loaded.compilations] == ["sm_90", "gfx942"]
    for first, after in zip(made, loaded.compilations, strict=True):
        assert dict(after.stages) == dict(first.stages) and after.metadata == first.metadata
        assert str(after.cost) == str(first.cost) and after.launch is loaded
        assert list(after.lines.table("ttgir")) == list(first.lines.table("ttgir"))
        assert after.plot.stages().title() == first.plot.stages().title()
    assert str(loaded.compilations[0].transactions) == str(made[0].transactions)
    with pytest.raises(LookupError, match="compile it here"):
        _ = loaded.compilations[0].passes
    card = loaded.plot()
    assert "stages" in (words := [tab["name"] for tab in card.scene()["tabs"]]) and "passes" not in words
    head = json.loads(zipfile.ZipFile(tmp_path / "two").read("head.json"))["compilations"]

    def loads(*changes: tuple[str, Any]) -> None:
        serialization.read(loaded, [{**head[0], **dict(changes)}], lambda _: np.zeros(3, np.uint8))

    loads()
    for wrong in (
        ("target", "sm_91"),
        ("stages", [["py", 1]]),
        ("told", {**head[0]["told"], "more": ""}),
        ("told", {**head[0]["told"], "metadata": {"shared": "0"}}),
        ("sources", [["f", "file", "1", "text"]]),
        ("constants", {"BLOCK": [128]}),
        ("seconds", {"ptx": "long"}),
        ("line", 1.5),
    ):
        with pytest.raises(ValueError, match=r"cannot be right|is not valid|no GPU|sm_90"):
            loads(wrong)
    with pytest.raises(ValueError, match="the compilations"):
        serialization.read(loaded, head * 9, lambda _: np.zeros(3, np.uint8))


def test_the_limits_of_a_launch_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "limits", Limits(batch=3, memory=1 << 26))
    launch = recorded(lambda: exponential[(5,)](torch.rand(160), torch.empty(160), BLOCK=32))
    kept = again(launch, tmp_path).tape
    assert kept is not None and (kept.limits.batch, kept.limits.memory) == (3, 1 << 26)


def test_a_loaded_launch_is_compiled_as_it_was_launched(tmp_path: Path) -> None:
    launch = recorded(lambda: exponential[(2,)](torch.rand(512), torch.empty(512), BLOCK=256, num_warps=2))
    loaded = again(launch, tmp_path)
    mine, theirs = launch.compile("sm_90"), loaded.compile("sm_90")
    assert theirs.options["num_warps"] == 2 and loaded.compilations == [theirs]
    assert repr(theirs) == repr(mine)  # registers, shared memory, instructions
    assert repr(theirs.transactions) == repr(mine.transactions)


def test_a_file_of_before_says_why_it_cannot_be_compiled() -> None:
    launch = lab.examples.recording("softmax")
    launch.compiled = (None, None)
    with pytest.raises(lab.CannotReplay, match="softmax_kernel"):
        launch.compile("sm_90")


@pytest.mark.parametrize("name", ["copies", "copies_to_a_barrier"])
def test_a_launch_with_copies_into_shared_memory_is_loaded(name: str, tmp_path: Path) -> None:
    launch = recorded(lambda: cases.launch(next(one for one in cases.cases(1) if one.kernel == name)))
    loaded = again(launch, tmp_path)
    assert [str(one) for one in loaded.findings] == [str(one) for one in launch.findings]
    assert lab.compare(launch, loaded).verdict == "bit-equal"
