"""Pictures of launches, tensors and schedules: each one live, static and as text.

Nothing is imported here: matplotlib and the widget machinery load with the first picture.
"""
