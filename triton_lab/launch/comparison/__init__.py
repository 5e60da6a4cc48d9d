"""Two results of a launch, or a launch and what was expected of it: how far apart they are, where first, and why.

Plain data and functions: `compare` makes a `Comparison`, which says in numbers and words what views draw.
"""
