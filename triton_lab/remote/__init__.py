"""Launches on shared workers, over Dask distributed: the part of `lab.target` with a ``scheduler``.

A launch travels as data (`job`, packed by `wire_data`): the kernel as Triton's front end read it here, numbers, and one
copy of each storage that it may access. Read `cluster_target` first, the device that Triton sees here. `cluster` sends
the job to a scheduler and waits, over the connection of `scheduler_client`. A Dask worker runs `worker_task`, which
asks a warm process (`job_server`, `job_process`) to fork one process for the job, within `worker_limits`; `cpu_job` and
`gpu_job` do the work in it. The changed bytes, times, printed text, and errors as data come back; `remote_errors` turns
errors into the user's words.
"""
