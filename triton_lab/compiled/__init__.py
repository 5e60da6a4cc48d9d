"""What the GPU compiler makes of a kernel, on any machine: layouts of its tensors, as data and as linear maps."""
