"""What of compilations a kernel and its launch ask for: what `providers` finds for them, by ``type.method``."""

from __future__ import annotations

PROVIDED = {
    "Function.ptx": "triton_lab.compiled.sm90_kernels:ptx_of",
    "Launch.advise": "triton_lab.compiled.advice.edit_search:advise",
    "Launch.compile": "triton_lab.compiled.launch_compilation:compiled_launch",
    "Launch.instructions": "triton_lab.compiled.sm90_kernels:instructions_of",
    "Launch.read_compilations": "triton_lab.compiled.serialization:read",
    "Launch.reduced_layouts": "triton_lab.compiled.sm90_kernels:reduced_of",
    "Launch.saved_compilations": "triton_lab.compiled.serialization:told",
    "Launch.scanned_layouts": "triton_lab.compiled.sm90_kernels:scanned_of",
    "Launch.thread_order": "triton_lab.compiled.transactions.thread_order:thread_order",
    "SharedView.bank_use": "triton_lab.compiled.layouts.conflict_free_layouts:register_bank_use",
    "SharedView.conflict_free": "triton_lab.compiled.layouts.conflict_free_layouts:conflict_free",
    "Type.registers": "triton_lab.compiled.layouts.conflict_free_layouts:registers_of",
    "SharedView.addresses": "triton_lab.compiled.layouts.module_layouts:shared_addresses",
    "resources_of": "triton_lab.compiled.sm90_kernels:resources_of",
}
