"""The second engine: a `Plan` as LLVM IR, compiled for this processor. The NumPy engine defines a kernel's meaning.

Read `engine` (which engine runs a launch), `native_kernel` (what is known of its kernel) and `function_contract` (what
a generated function is) first. Then read `lowering/`, which writes one, on top of `analysis/`, `blocks/`, `math/` and
`llvm/`; then `runtime/` and `threads/`, which run it. What the room cannot do raises `Unsupported`, and the NumPy
engine runs it.
"""
