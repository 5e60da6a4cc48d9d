"""The cost of a launch: bytes, operations, occupancy, and the roofline of a GPU, line by line.

A compiled launch enters. `operation_counts` counts arithmetic as the kernel is written; `occupancy` and `gpu_limits`
hold what is known of GPUs; `cost` joins them with the launch's `transactions`. A `LaunchCost` leaves.
"""

from triton_lab.compiled.cost.cost import Bytes, LaunchCost, LineCost, Roof
from triton_lab.compiled.cost.gpu_limits import GPUS, Gpu, gpu
from triton_lab.compiled.cost.occupancy import Occupancy, occupancy

__all__ = ["GPUS", "Bytes", "Gpu", "LaunchCost", "LineCost", "Occupancy", "Roof", "gpu", "occupancy"]
