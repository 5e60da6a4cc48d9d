"""The data of pictures: which programs touch an element, how often, and in which order.

In: a launch and its accesses. Out: arrays and counts for elements, bytes and programs, without colours or drawing. Read
`lane_positions` and `overhang` (where lanes are), `heat`, `access_heat` and `tiling` (over a shape), then
`tensor_storage` and `storage_accesses` (along a storage).
"""
