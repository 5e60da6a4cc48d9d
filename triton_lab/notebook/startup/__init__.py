"""Everything before the first cell: IPython's startup file, and imports while the kernel is idle."""
