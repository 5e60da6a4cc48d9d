"""Pictures of launches, tensors and schedules: each one live, static and as text.

This package imports nothing: matplotlib and the widget machinery load with the first picture.
"""
