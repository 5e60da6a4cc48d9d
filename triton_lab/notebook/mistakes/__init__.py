"""Mistakes in kernels, explained: from an error of Triton's front end to a sentence and a remedy.

`front_end_error` reads the error; `second_reading` reads the kernel again for its frames, `verifier_message` what MLIR
says of a module that does not verify. `mistake_table` asks the rules of all tables in turn, and has the words for what
no rule knows; `diagnostic` has the type of a rule and of its explanation. Tables: `members`, `containers`,
`compile_time`, `descriptors`, `function_table`, `conversion_table`, `statement_table`. Errors outside of kernels, in
launches and declarations, have hints: `error_hints`, `declaration_hints`.
"""
