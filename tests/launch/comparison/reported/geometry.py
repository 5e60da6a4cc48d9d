"""Kernels on points, boxes and particles, and slips of the classes that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def rotate_points(x_ptr, angle_ptr, y_ptr, points, BLOCK: tl.constexpr):
    cloud = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < points
    angle = tl.load(angle_ptr + cloud)
    cos, sin = tl.cos(angle), tl.sin(angle)
    base = cloud * points * 2 + at * 2
    x = tl.load(x_ptr + base, mask=inside, other=0.0)
    y = tl.load(x_ptr + base + 1, mask=inside, other=0.0)
    tl.store(y_ptr + base, cos * x - sin * y, mask=inside)
    tl.store(y_ptr + base + 1, sin * x + cos * y, mask=inside)


def run_rotate_points(kernel) -> None:
    kernel[(4,)](randn(4, 11, 2), randn(4, seed=1), torch.zeros(4, 11, 2), 11, BLOCK=16)


@triton.jit
def nearest_centre(
    x_ptr, centre_ptr, out_ptr, n, centres, D: tl.constexpr, POINTS: tl.constexpr, CENTRES: tl.constexpr
):
    p = tl.program_id(0) * POINTS + tl.arange(0, POINTS)
    c = tl.arange(0, CENTRES)
    found = tl.zeros((POINTS, CENTRES), tl.float32)
    for d in range(D):
        x = tl.load(x_ptr + p * D + d, mask=p < n, other=0.0)
        centre = tl.load(centre_ptr + c * D + d, mask=c < centres, other=0.0)
        gap = x[:, None] - centre[None, :]
        found += gap * gap
    found = tl.where(c[None, :] < centres, found, float("inf"))
    tl.store(out_ptr + p, tl.argmin(found, axis=1), mask=p < n)


def run_nearest_centre(kernel) -> None:
    kernel[(3,)](randn(21, 3), randn(5, 3, seed=1), torch.zeros(21, dtype=torch.int32), 21, 5, D=3, POINTS=8, CENTRES=8)


@triton.jit
def forces(place_ptr, mass_ptr, force_ptr, n, soft, BLOCK: tl.constexpr):
    me = tl.program_id(0)
    other = tl.arange(0, BLOCK)
    inside = other < n
    x0 = tl.load(place_ptr + me * 2)
    y0 = tl.load(place_ptr + me * 2 + 1)
    x = tl.load(place_ptr + other * 2, mask=inside, other=0.0)
    y = tl.load(place_ptr + other * 2 + 1, mask=inside, other=0.0)
    mass = tl.load(mass_ptr + other, mask=inside, other=0.0)
    dx, dy = x - x0, y - y0
    square = dx * dx + dy * dy + soft
    pull = mass / (square * tl.sqrt(square))
    tl.store(force_ptr + me * 2, tl.sum(pull * dx, axis=0))
    tl.store(force_ptr + me * 2 + 1, tl.sum(pull * dy, axis=0))


def run_forces(kernel) -> None:
    kernel[(13,)](randn(13, 2), randn(13, seed=1).abs() + 0.5, torch.zeros(13, 2), 13, 0.1, BLOCK=16)


def right_forces(place_ptr, mass_ptr, soft, **_):
    gap = place_ptr[None] - place_ptr[:, None]
    square = (gap**2).sum(-1) + soft
    return {"force_ptr": (mass_ptr[None, :, None] * gap / square[..., None] ** 1.5).sum(1)}


@triton.jit
def box_area(box_ptr, area_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    left = tl.load(box_ptr + at * 4, mask=inside, other=0.0)
    top = tl.load(box_ptr + at * 4 + 1, mask=inside, other=0.0)
    right = tl.load(box_ptr + at * 4 + 2, mask=inside, other=0.0)
    bottom = tl.load(box_ptr + at * 4 + 3, mask=inside, other=0.0)
    wide = tl.maximum(right - left, 0.0)
    high = tl.maximum(bottom - top, 0.0)
    tl.store(area_ptr + at, wide * high, mask=inside)


def run_box_area(kernel) -> None:
    kernel[(2,)](randn(19, 4) + torch.tensor([0.0, 0.0, 1.5, 1.5]), torch.zeros(19), 19, BLOCK=16)


@triton.jit
def project(point_ptr, pixel_ptr, n, focal, cx, cy, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(point_ptr + at * 3, mask=inside, other=0.0)
    y = tl.load(point_ptr + at * 3 + 1, mask=inside, other=0.0)
    z = tl.load(point_ptr + at * 3 + 2, mask=inside, other=1.0)
    tl.store(pixel_ptr + at * 2, focal * x / z + cx, mask=inside)
    tl.store(pixel_ptr + at * 2 + 1, focal * y / z + cy, mask=inside)


def run_project(kernel) -> None:
    kernel[(2,)](randn(21, 3) + torch.tensor([0.0, 0.0, 5.0]), torch.zeros(21, 2), 21, 3.5, 1.25, 0.75, BLOCK=16)


@triton.jit
def cell_histogram(place_ptr, count_ptr, n, cells, side, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(place_ptr + at * 2, mask=inside, other=0.0)
    y = tl.load(place_ptr + at * 2 + 1, mask=inside, other=0.0)
    column = tl.minimum(tl.maximum((x * side).to(tl.int32), 0), cells - 1)
    row = tl.minimum(tl.maximum((y * side).to(tl.int32), 0), cells - 1)
    tl.atomic_add(count_ptr + row * cells + column, 1, mask=inside)


def run_cell_histogram(kernel) -> None:
    places = torch.rand(37, 2, generator=torch.Generator().manual_seed(3))
    kernel[(3,)](places, torch.zeros(4, 5, dtype=torch.int32)[:, :4].contiguous(), 37, 4, 4.0, BLOCK=16)


@triton.jit
def normals(point_ptr, face_ptr, normal_ptr, faces, BLOCK: tl.constexpr):
    face = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = face < faces
    a = tl.load(face_ptr + face * 3, mask=inside, other=0)
    b = tl.load(face_ptr + face * 3 + 1, mask=inside, other=0)
    c = tl.load(face_ptr + face * 3 + 2, mask=inside, other=0)
    ax = tl.load(point_ptr + a * 3)
    ay = tl.load(point_ptr + a * 3 + 1)
    az = tl.load(point_ptr + a * 3 + 2)
    ux = tl.load(point_ptr + b * 3) - ax
    uy = tl.load(point_ptr + b * 3 + 1) - ay
    uz = tl.load(point_ptr + b * 3 + 2) - az
    vx = tl.load(point_ptr + c * 3) - ax
    vy = tl.load(point_ptr + c * 3 + 1) - ay
    vz = tl.load(point_ptr + c * 3 + 2) - az
    tl.store(normal_ptr + face * 3, uy * vz - uz * vy, mask=inside)
    tl.store(normal_ptr + face * 3 + 1, uz * vx - ux * vz, mask=inside)
    tl.store(normal_ptr + face * 3 + 2, ux * vy - uy * vx, mask=inside)


def run_normals(kernel) -> None:
    faces = torch.randint(0, 9, (11, 3), generator=torch.Generator().manual_seed(5), dtype=torch.int32)
    kernel[(1,)](randn(9, 3), faces, torch.zeros(11, 3), 11, BLOCK=16)


GEOMETRY = (
    Subject(
        rotate_points,
        run_rotate_points,
        (
            Slip("sign", "cos * x - sin * y", "cos * x + sin * y", "the sign of one sine"),
            Slip("wrong operand", "sin * x + cos * y", "sin * y + cos * x", "coordinates exchanged in the second line"),
            Slip("program or head", "angle_ptr + cloud", "angle_ptr", "every program takes the first angle"),
        ),
    ),
    Subject(
        nearest_centre,
        run_nearest_centre,
        (
            Slip("function", "tl.argmin(found, axis=1)", "tl.argmax(found, axis=1)", "the farthest"),
            Slip("missing term", "found += gap * gap", "found = gap * gap", "only the last dimension counts"),
            Slip(
                "mask",
                'tl.where(c[None, :] < centres, found, float("inf"))',
                "found",
                "padding takes part in a minimum",
            ),
        ),
    ),
    Subject(
        forces,
        run_forces,
        (
            Slip("exchanged operands", "dx, dy = x - x0, y - y0", "dx, dy = x0 - x, y0 - y", "forces that push"),
            Slip("missing term", "mass / (square * tl.sqrt(square))", "mass / square", "one power too few"),
            Slip("wrong operand", "tl.sum(pull * dy, axis=0)", "tl.sum(pull * dx, axis=0)", "copied line not adapted"),
            Slip(
                "missing term",
                "dx * dx + dy * dy + soft",
                "dx * dx + dy * dy + soft * soft",
                "the softening squared or not",
            ),
        ),
        right_forces,
    ),
    Subject(
        box_area,
        run_box_area,
        (
            Slip("index", "box_ptr + at * 4 + 2", "box_ptr + at * 4 + 3", "the order of a box's numbers"),
            Slip("missing function", "tl.maximum(bottom - top, 0.0)", "bottom - top", "boxes that are inside out"),
            Slip("operator", "wide * high", "wide + high", "sum for product"),
        ),
    ),
    Subject(
        project,
        run_project,
        (
            Slip("wrong operand", "focal * y / z + cy", "focal * y / z + cx", "the other centre"),
            Slip("order of steps", "focal * x / z + cx", "(focal * x + cx) / z", "the division after the shift"),
            Slip("missing term", "focal * y / z", "y / z", "the focal length of one axis"),
        ),
    ),
    Subject(
        cell_histogram,
        run_cell_histogram,
        (
            Slip("exchanged operands", "row * cells + column", "column * cells + row", "a transposed grid"),
            Slip(
                "constant",
                "(x * side).to(tl.int32), 0), cells - 1)",
                "(x * side).to(tl.int32), 0), cells - 2)",
                "the last cell stays empty",
            ),
        ),
    ),
    Subject(
        normals,
        run_normals,
        (
            Slip("sign", "uz * vx - ux * vz", "ux * vz - uz * vx", "the middle component of a cross product"),
            Slip("index", "point_ptr + c * 3) - ax", "point_ptr + b * 3) - ax", "the second edge is the first"),
            Slip("wrong operand", "ux * vy - uy * vx", "ux * vy - uy * vz", "one wrong letter"),
        ),
    ),
)
