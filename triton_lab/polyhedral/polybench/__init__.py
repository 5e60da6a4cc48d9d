"""PolyBench's thirty problems as loop nests, and the result for each.

`problems` and `algebra` hold the nests, `results_page` schedules and runs them and writes a page. They use the public
interface, and no other module depends on them.
"""
