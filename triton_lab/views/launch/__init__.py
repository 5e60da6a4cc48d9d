"""Pictures of launches: the card, its tabs, and what stands behind each.

They read `triton_lab.launch`, draw with `views.drawing`, and compute nothing that `launch.maps` could say.
"""
