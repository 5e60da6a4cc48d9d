"""What a launch costs: bytes, operations, occupancy, and the roof that a GPU's makers promise, line by line.

`operations` counts arithmetic as the kernel is written, `occupancy` and `peaks` have what is known of GPUs, `cost`
joins them with the launch's `transactions`.
"""

from triton_lab.compiled.cost.cost import Bytes, Cost, Line, Roof
from triton_lab.compiled.cost.occupancy import Occupancy, occupancy
from triton_lab.compiled.cost.peaks import GPUS, Gpu, gpu

__all__ = ["GPUS", "Bytes", "Cost", "Gpu", "Line", "Occupancy", "Roof", "gpu", "occupancy"]
