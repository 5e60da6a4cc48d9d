"""Parses text into loop nests: C loops and Python loops, each node with its place in the source.

Text enters (`from_c`, `from_python`), a `Nest` leaves; `affine_reader` reads its expressions as affine values.
Nothing here depends on scops, schedules or launches.

C's way is: `c_macros` expands, `c_functions` finds the function with the nest, `c_parser` parses it, `c_loop_heads` and
`c_expressions` read the parts of `from_c`, and `c_types` knows types and numbers. Of C, this is read:

- one nest, one function, or what stands between ``#pragma scop`` and ``#pragma endscop``, with its macros;
- ``for`` with affine bounds and constant steps, also with several iterators; ``if``, ``else``, ``break``, ``continue``;
- affine values: ``+ - *``, ``/`` and ``%`` by a number, ``<< >>``, ``& 7``, ``min``, ``max``, ``abs``, ``?:``,
  comparisons, casts between integers, and scalars whose value is known;
- assignments with every operator of C, to scalars and array elements, also of local arrays; labels;
- conditions that read memory: the accesses behind them may happen;
- calls of mathematical functions, and of functions that the text declares and that take only numbers: they are taken
  to use nothing else.

- ``while``: a loop without a last iteration, whose body a flag guards. It has dependences, but cannot be run or drawn.

Refused in words, at their place: ``do``, ``goto``, ``switch``, pointers, structs, subscripts that read memory, calls
that may change an array, and unsigned arithmetic that may wrap around.
"""
