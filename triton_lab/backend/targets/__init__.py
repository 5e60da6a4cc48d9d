"""Where launches run, and what they may use: `lab.target` and `lab.limits`, and the GPU if there is one.

`active_target` chooses. `offload` runs a launch on the GPU for CPU tensors, and `cpu_replay` also runs it on the CPU.
The `sm90_` modules ask Triton's compiler for CUDA what an H100 would refuse or use.
"""
