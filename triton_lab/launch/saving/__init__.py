"""Launches as files, which hold only data, nothing that is executed.

In: a `Launch`, or a file. Out: a file, or a `Launch`. Read `file_format` first, then `launch_writer`, `launch_reader`,
`checked_fields`, and `admission` (whether a launch from a file may run).
"""
