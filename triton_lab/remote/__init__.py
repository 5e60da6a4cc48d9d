"""Launches on workers that several people share, over Dask distributed: what `lab.target` does with a ``scheduler``.

A launch travels as data (`job`): the kernel as Triton's front end has read it here, numbers, and one copy of each
storage that it may reach. `cluster` hands it to a scheduler and waits, `worker` is what a Dask worker runs, `server`
the process that it keeps ready, which forks one (`child`) for each job; `on_cpu` and `on_gpu` do the work there. What
comes back is the bytes that changed, times, what was printed, and errors as data, which `failures` tells in the user's
words.
"""
