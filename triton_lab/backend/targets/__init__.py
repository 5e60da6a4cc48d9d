"""Where launches run, and what they may use: `lab.target` and `lab.limits`, and the GPU if there is one.

`active_target` chooses. `offload` runs a launch on the GPU for CPU tensors, and `both_targets` runs it on both.
The `sm90_` modules ask Triton's compiler for CUDA what an H100 would refuse or use.
"""
