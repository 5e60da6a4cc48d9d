"""Which lines of each stage belong to which lines of the source, as the compilers recorded it.

Each stage names places in its own way. `mlir_lines`, `llvm_lines`, `assembly_lines` (PTX and AMD's) and `sass_lines`
read them, line by line, into trails of places (`source_trail`). `StageLines` (`stage_lines`) leaves: both directions,
and the reasons for lines without instructions (`missing_instructions`).
"""
