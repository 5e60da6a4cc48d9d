"""Pictures of layouts: which thread holds which element, what a conversion moves, all layouts of a kernel."""
