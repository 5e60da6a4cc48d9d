"""Pictures of layouts: who holds which element, what a conversion moves, and which layouts a compiled kernel has."""
