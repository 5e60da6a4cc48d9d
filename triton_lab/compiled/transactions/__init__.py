"""Memory transactions: a launch's recorded addresses, assigned to threads as its compiled kernel assigns them.

A recorded launch and its compiled stages enter. `ttgir_accesses`, `ptx_parser` and `ptxas_code` read the stages, and
`access_matching` finds what an access became. `sectors` and `transfer` count requests and sectors of global memory;
`ptx_registers` (with `ptx_rules`) and `shared_memory_accesses` count bank conflicts in shared memory. `Transactions`
leaves (`transactions`); `advice` names its worst line.
"""

from triton_lab.compiled.transactions.advice import Reason, worst
from triton_lab.compiled.transactions.transactions import SharedLine, Transactions, transactions
from triton_lab.compiled.transactions.transfer import Transfer

__all__ = ["Reason", "SharedLine", "Transactions", "Transfer", "transactions", "worst"]
