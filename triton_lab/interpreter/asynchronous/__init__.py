"""Shared memory and what a GPU does asynchronously: buffers, copies, barriers, products, partitions of warps.

Read `shared_views` first (bytes and views of them), then `asynchronous_work` (what is pending, and when it lands),
`buffer_accesses` (what refuses an access), `mbarriers` and `partitions`. `schedules` decides what a GPU leaves open,
and `async_events` is what an observer gets.
"""
