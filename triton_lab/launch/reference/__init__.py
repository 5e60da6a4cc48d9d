"""Where a kernel and a reference function in torch part: the first value that is no value of the reference.

In: a `Launch` and a function that gives its expected result. Out: a `Parting`. Read `reference_trace` (the function's
values, step by step), `kernel_steps` (the kernel's), `block_search` (a block of a program among the elements of a
tensor), `parting`, then `parting_search`. `dependence_search` finds elements of inputs on which a result depends and
must not, or does not and must, and `factor_search` those with a wrong factor (`wrong_dependence`): both run the kernel
and the function with `changed_inputs`. `condition_search` finds a condition on the kernel's values that holds
where the result is wrong (`wrong_condition`).
"""
