"""Pictures of layouts: which thread holds which element, what a conversion moves, and the layouts of a compiled kernel.
"""
