"""Words in pictures that a learner may not know, each explained in a sentence or two; the browser has them, too.

A key is the word as it stands in a picture, in lower case. If a word means several things, its keys have a prefix
before a colon.
"""

from __future__ import annotations

from triton_lab.localization import N_

GLOSSARY: dict[str, str] = {
    # What colours a picture.
    "count": N_("The number of lanes that access the element, over all programs and iterations."),
    "program": N_(
        "The first program that accesses the element. A program is one run of the kernel, with its own tl.program_id."
    ),
    "iteration": N_("The loop iteration in which the element is first accessed, counted from 0."),
    "reuse": N_(
        "The number of programs that access the element. If it is more than one, the element is loaded "
        "again, or comes from a cache."
    ),
    "order": N_(
        "The order of first accesses, if programs ran one after the other by number. A GPU starts "
        "programs in this order, but those that run together have no order."
    ),
    "wave": N_("Programs that run at the same time: one per multiprocessor (SM), then the next wave."),
    "lanes/element": N_(
        "The number of lanes that access an element in one access, averaged over the elements of a cell. "
        "Zoom in to see single elements."
    ),
    "lanes": N_(
        "The number of active lanes of the program, over all its loads and stores. A lane whose mask is "
        "false is not active."
    ),
    "bytes": N_("The number of bytes that the program loads and stores: active lanes times the size of an element."),
    "iterations": N_("The number of loop iterations of the program."),
    "shared": N_(
        "The number of input bytes that this program and the picked program both load. A cache could serve them."
    ),
    "sms": N_(
        "Multiprocessors of the GPU: the number of programs that run at the same time, at one per "
        "multiprocessor. An H100 has 132."
    ),
    "loads": N_("The program that loads the element."),
    "stores": N_("The program that stores the element."),
    "both": N_("The program that loads or stores the element."),
    # Legends.
    "times": N_("The number of lanes that access the element, over all programs and iterations."),
    "programs": N_("The number of programs that access the element."),
    "bytes shared": N_("The number of input bytes that a program and the picked program both load."),
    "several programs": N_("More than one program accesses this element, or an element of this cell."),
    "masked lanes only": N_("A block covers this element, but its mask is false here: the lane accesses nothing."),
    "not accessed": N_("No program that ran loads or stores this element."),
    "not accessed by these": N_("None of the programs in this sample loads or stores this element."),
    "outside the argument": N_("Memory outside of the tensor that an active lane accesses."),
    "partly": N_("The tensor covers only some of the places in this cell."),
    "in none of them": N_("Storage that belongs to no tensor shown here."),
    "shared by several tensors": N_(
        "Several tensors share these bytes. A write through one tensor changes the others."
    ),
    "several elements at one place": N_(
        "Different indices lead to the same element, because a stride is 0 or too small."
    ),
    "not needed": N_("This element does not contribute to the picked value."),
    "loaded": N_("This element was loaded to compute the picked value."),
    "stored by this line": N_("An element that the line stored."),
    "click to pick": N_("Click an element to see its origins."),
    # Steps in storage, beside and below a picture.
    "right": N_(
        "The storage distance of the next element to the right: the stride of the last dimension, in "
        "elements. At +1, neighbouring lanes share cache lines."
    ),
    "down": N_("The storage distance of the element below: the stride of the second-to-last dimension, in elements."),
    "right:axis": N_("Programs side by side differ in this axis of the grid. tl.program_id(0) is x."),
    "down:axis": N_("Programs below each other differ in this axis of the grid. tl.program_id(1) is y."),
    "cache": N_(
        "A GPU loads memory in sectors of 32 bytes. Four sectors are a cache line of 128 bytes. Lanes "
        "that share a sector cost one load."
    ),
    "wrapped": N_(
        "The tensor has one dimension. It is cut into rows to fit the picture; each row continues the "
        "row above. Elements below each other are not neighbours."
    ),
    # Headings of tables.
    "shape": N_("The number of elements along each dimension."),
    "stride": N_(
        "The storage distance of one step along each dimension, in elements. With 0, all indices share one element."
    ),
    "offset": N_("The storage position of the tensor's first element, in elements."),
    "dtype": N_("The type of an element. A float32, for example, has four bytes."),
    "bytes:heading": N_(
        "The number of elements times the size of one. A view may share these bytes with other tensors."
    ),
    "is contiguous": N_("Whether the elements are stored in index order without gaps."),
    "storage": N_("The memory behind the tensor. Tensors with the same letter share it."),
    # The tabs.
    "tab:tiling": N_("Which program accesses each element."),
    "tab:accesses": N_("How often, by which programs, when and in which order each element is accessed."),
    "tab:timeline": N_("Which elements are accessed when. Time runs downwards."),
    "tab:storage": N_("The tensors in memory."),
    "tab:grid": N_("The programs of the launch in the order in which they start, and the work of each."),
    "tab:values": N_("The values of the kernel's variables, block by block."),
    "tab:steps": N_("One program, assignment by assignment."),
    "tab:origins": N_("The loaded elements that a stored value was computed from."),
    "tab:autotuner": N_("The configurations that Triton's autotuner tried, the time of each, and the chosen one."),
    "tab:layouts": N_("Which thread holds which element of each value, and what moves when a layout changes."),
    "tab:gpu and cpu": N_("The results of both, and where they differ."),
}
