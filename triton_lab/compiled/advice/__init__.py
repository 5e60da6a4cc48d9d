"""Edits of a launch's kernel that should make it faster, each tried: compiled, checked, and its time predicted.

A recorded launch enters. `launch_scope` reads its kernel; `option_edits` and `source_edits`, with `loop_rewrites` and
`program_batches`, make edits of it (`launch_edit`); `edited_launch` runs some programs of each; `edit_search` tries the
most promising first and checks the results of the best. An `Advice` leaves (`speed_advice`), which `measured_edits`
times on a GPU.
"""
