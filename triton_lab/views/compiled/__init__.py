"""Pictures of a GPU compiler's results: further tabs of a launch's card once its kernel was compiled.

They read `triton_lab.compiled`, and stand in the card of a launch or in a card of their own.
"""
