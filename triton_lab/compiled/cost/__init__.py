"""What a launch costs: bytes, operations, occupancy, and the roof that a GPU's makers promise, line by line.

`operations` counts arithmetic as the kernel is written, `occupancy` and `peaks` have what is known of GPUs, `cost`
joins them with the launch's `transactions`.
"""

from triton_lab.compiled.cost.cost import Bytes, LaunchCost, LineCost, Roof
from triton_lab.compiled.cost.gpu_limits import GPUS, Gpu, gpu
from triton_lab.compiled.cost.occupancy import Occupancy, occupancy

__all__ = ["GPUS", "Bytes", "Gpu", "LaunchCost", "LineCost", "Occupancy", "Roof", "gpu", "occupancy"]
