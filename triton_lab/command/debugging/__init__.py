"""The debugger of kernels in a terminal and for editors.

`breakpoint_front` is called for a launch whose kernel has ``breakpoint()``, and chooses who shows it. `debug_session`
keeps breakpoints from one launch to the next. `terminal_debugger` has the words of pdb. `debug_adapter` speaks the
Debug Adapter Protocol; `adapter_messages` reads and writes its messages.
"""
