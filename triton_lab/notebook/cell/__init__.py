"""A `%%triton` cell, from its line of options to its cards.

`magic_options` reads the line, `run_cell` runs the body, `kernel_freshness` follows changed helpers, `show_launches`
shows the launches, `error_display` and `excepthook` show errors with the user's own lines.
"""
