"""Recorded launches as plain data.

In: launches while they run (`recording`). Out: a `Launch` (`launch`), with its values (`replay`), findings (`checks`,
`diagnosis`), runs in parts (`sharding`), measurements (`benchmark`), data for pictures (`maps`), comparisons
(`comparison`), files (`saving`) and a debugger (`debugging`). Read `launch` and `access` first, then the folders in
this order.
This room draws nothing and imports no notebook code: a method that opens a picture imports its view when it is called.
"""
