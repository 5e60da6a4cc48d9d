"""Pictures of the grid: which program touches which element, and what each program does."""
