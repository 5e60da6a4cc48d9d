"""The examples of Triton's related-work page: its loop nests, its ragged nest, and its three ways to schedule.

They use the public interface, and no other module depends on them. Start with `page_nests`, then `page_domain`,
`ragged_nest`, `halide_matmul`; `three_ways` compares them.
"""
