"""Pictures of launches: the card, its tabs, and the view behind each tab.

They read `triton_lab.launch`, draw with `views.drawing`, and leave all computation to `launch.maps`.
"""
