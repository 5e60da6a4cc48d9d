"""Child processes that are ended together with everything that they started."""
