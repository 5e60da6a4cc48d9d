"""Memory transactions: a launch's recorded addresses, dealt to threads as its compiled kernel deals them.

`joined` finds what an access became (`ttgir`, `ptx`), `sectors` and `transfer` count what it asks of global memory,
`registers` and `shared` what instructions ask of the banks of shared memory; `reason` names the worst line.
"""

from triton_lab.compiled.transactions.advice import Reason, worst
from triton_lab.compiled.transactions.transactions import SharedLine, Transactions, transactions
from triton_lab.compiled.transactions.transfer import Transfer

__all__ = ["Reason", "SharedLine", "Transactions", "Transfer", "transactions", "worst"]
