"""Pictures of what a GPU's compiler made of a kernel: the panels that a launch's card has besides once it was compiled.

They read `triton_lab.compiled`, and stand in the card of a launch or in one of their own.
"""
