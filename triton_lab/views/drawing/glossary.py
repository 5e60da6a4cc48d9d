"""Words in pictures that a learner may not know, each explained in a sentence or two; the browser has them, too.

A key is the word as it stands in a picture, in lower case. If a word means several things, its keys have a prefix
before a colon.
"""

from __future__ import annotations

GLOSSARY: dict[str, str] = {
    # What colours a picture.
    "count": "The number of lanes that access the element, over all programs and iterations.",
    "program": (
        "The first program that accesses the element. A program is one run of the kernel, with its own tl.program_id."
    ),
    "iteration": "The loop iteration in which the element is first accessed, counted from 0.",
    "reuse": (
        "The number of programs that access the element. If it is more than one, the element is loaded "
        "again, or comes from a cache."
    ),
    "order": (
        "The order of first accesses, if programs ran one after the other by number. A GPU starts "
        "programs in this order, but those that run together have no order."
    ),
    "wave": "Programs that run at the same time: one per multiprocessor (SM), then the next wave.",
    "lanes/element": (
        "The number of lanes that access an element in one access, averaged over the elements of a cell. "
        "Zoom in to see single elements."
    ),
    "lanes": (
        "The number of active lanes of the program, over all its loads and stores. A lane whose mask is "
        "false is not active."
    ),
    "bytes": "The number of bytes that the program loads and stores: active lanes times the size of an element.",
    "iterations": "The number of loop iterations of the program.",
    "shared": (
        "The number of input bytes that this program and the picked program both load. A cache could serve them."
    ),
    "sms": (
        "Multiprocessors of the GPU: the number of programs that run at the same time, at one per "
        "multiprocessor. An H100 has 132."
    ),
    "loads": "The program that loads the element.",
    "stores": "The program that stores the element.",
    "both": "The program that loads or stores the element.",
    # Legends.
    "times": "The number of lanes that access the element, over all programs and iterations.",
    "programs": "The number of programs that access the element.",
    "bytes shared": "The number of input bytes that a program and the picked program both load.",
    "several programs": "More than one program accesses this element, or an element of this cell.",
    "masked lanes only": "A block covers this element, but its mask is false here: the lane accesses nothing.",
    "touched by nobody": "No program that ran loads or stores this element.",
    "touched by none of these": "None of the programs in this sample loads or stores this element.",
    "outside the argument": "Memory outside of the tensor that an active lane accesses.",
    "partly": "The tensor covers only some of the places in this cell.",
    "in none of them": "Storage that belongs to no tensor shown here.",
    "shared by several tensors": "Several tensors share these bytes. A write through one tensor changes the others.",
    "several elements at one place": "Different indices lead to the same element, because a stride is 0 or too small.",
    "not needed": "This element does not contribute to the picked value.",
    "loaded": "This element was loaded to compute the picked value.",
    "stored by this line": "An element that the line stored.",
    "click to pick": "Click an element to see its origins.",
    # Steps in storage, beside and below a picture.
    "right": (
        "The storage distance of the next element to the right: the stride of the last dimension, in "
        "elements. At +1, neighbouring lanes share cache lines."
    ),
    "down": "The storage distance of the element below: the stride of the second-to-last dimension, in elements.",
    "right:axis": "Programs side by side differ in this axis of the grid. tl.program_id(0) is x.",
    "down:axis": "Programs below each other differ in this axis of the grid. tl.program_id(1) is y.",
    "cache": (
        "A GPU loads memory in sectors of 32 bytes. Four sectors are a cache line of 128 bytes. Lanes "
        "that share a sector cost one load."
    ),
    "wrapped": (
        "The tensor has one dimension. It is cut into rows to fit the picture; each row continues the "
        "row above. Elements below each other are not neighbours."
    ),
    # Headings of tables.
    "shape": "The number of elements along each dimension.",
    "stride": (
        "The storage distance of one step along each dimension, in elements. With 0, all indices share one element."
    ),
    "offset": "The storage position of the tensor's first element, in elements.",
    "dtype": "The type of an element. A float32, for example, has four bytes.",
    "bytes:heading": "The number of elements times the size of one. A view may share these bytes with other tensors.",
    "is contiguous": "Whether the elements are stored in index order without gaps.",
    "storage": "The memory behind the tensor. Tensors with the same letter share it.",
    # The tabs.
    "tab:tiling": "Which program accesses each element.",
    "tab:accesses": "How often, by which programs, when and in which order each element is accessed.",
    "tab:timeline": "Which elements are accessed when. Time runs downwards.",
    "tab:storage": "The tensors in memory.",
    "tab:grid": "The programs of the launch in the order in which they start, and the work of each.",
    "tab:values": "The values of the kernel's variables, block by block.",
    "tab:steps": "One program, assignment by assignment.",
    "tab:origins": "The loaded elements that a stored value was computed from.",
    "tab:autotuner": "The configurations that Triton's autotuner tried, the time of each, and the chosen one.",
    "tab:layouts": "Which thread holds which element of each value, and what moves when a layout changes.",
    "tab:gpu and cpu": "The results of both, and where they differ.",
}
