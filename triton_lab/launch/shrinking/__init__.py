"""Smaller launches that fail for the same reason, and scripts of them to send to somebody.

In: a launch that fails. Out: a `ShrunkLaunch`. Read `launch_case` (a launch that can be made smaller), `linked_sizes`
(which of its sizes belong together), `failure` (why it fails), then `case_search` and `reproducer` (the script).
"""
