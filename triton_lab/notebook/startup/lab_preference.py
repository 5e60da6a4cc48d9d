"""What the user has set in JupyterLab. It is told to a kernel that has run nothing: nothing is imported here."""

first = ""  # the view that a card opens with, where its cell does not say; "": as we think best
