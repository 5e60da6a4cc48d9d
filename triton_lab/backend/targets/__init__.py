"""Where launches run, and what they may use: `lab.target` and `lab.limits`, and the GPU where there is one.

`active_target` chooses; `offload` runs a launch on the GPU for tensors of the CPU and `cpu_replay` runs it on the CPU
beside; the `sm90_` modules ask Triton's compiler for CUDA what an H100 would refuse or use.
"""
