"""Pictures of launches: the card, its tabs, and the view behind each tab.

They read `triton_lab.launch` and draw with `views.drawing`; what `launch.maps` can compute they do not compute
themselves.
"""
