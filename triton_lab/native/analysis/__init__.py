"""What is known of a kernel before machine code is written. There is no LLVM here.

In: a `Plan`. Out: which values need code (`value_uses`), in which order effects happen and which loops may wait
(`effect_order`), which blocks are affine or boxes (`compact_forms`, with `affine_rules`), whether programs keep apart
(`launch_footprint`), and which sums they may share (`unordered_sums`).
"""
