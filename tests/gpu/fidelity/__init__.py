"""How near the interpreter is to a GPU, as a table: every operation on every type of number, and every example.

    python -m tests.gpu.fidelity --out docs/fidelity.md

``--against cpu`` puts the interpreter in the GPU's place, which tries the script itself and measures nothing.
"""
