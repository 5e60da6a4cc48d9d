"""The user's settings in JupyterLab. They are sent to a kernel that has run nothing: this module imports nothing."""

first = ""  # the view that a card opens with, if its cell names none; "": our default
