"""Words in pictures that a learner may not know, each explained in a sentence or two; the browser has them, too.

A key is the word as it stands in a picture, in lower case. If a word means several things, its keys have a prefix
before a colon.
"""

from __future__ import annotations

GLOSSARY: dict[str, str] = {
    # What colours a picture.
    "count": "How many lanes touch the element, over all programs and iterations: 1 is once.",
    "program": "The program (one run of the kernel, told apart by tl.program_id) that touches the element first.",
    "iteration": "The turn of the kernel's loop in which the element is first touched, from 0 on.",
    "reuse": "How many different programs touch the element. More than one: it is fetched again, or cached.",
    "order": "First to last, if programs ran one after the other in the order of their numbers. A GPU starts them in "
    "this order but keeps no order among those that run together.",
    "wave": "Programs that run at the same time: as many as there are multiprocessors (SMs), then the next as many.",
    "lanes/element": "How many lanes touch an element in one access, on average over those that a cell stands for. "
    "Zoom in to see each by itself.",
    "lanes": "How many places of its blocks the program has at work, over all its loads and stores. A lane whose mask "
    "is false does nothing and is not counted.",
    "bytes": "How many bytes the program loads and stores: lanes at work, times the size of an element.",
    "iterations": "How many turns of its loop the program makes.",
    "shared": "How many bytes of input this program loads that the picked one loads, too: what a cache could serve.",
    "sms": "Multiprocessors of the GPU: how many programs run at the same time, if each takes one. An H100 has 132.",
    "loads": "The program that reads the element.",
    "stores": "The program that writes the element.",
    "both": "The program that reads or writes the element.",
    # Legends.
    "times": "How many lanes touch the element, over all programs and iterations.",
    "programs": "How many different programs touch the element.",
    "bytes shared": "Bytes of input that a program loads and the picked one, too.",
    "several programs": "More than one program touches this element, or an element of this cell.",
    "masked lanes only": "A block reaches here, but its mask is false: the lane touches nothing.",
    "touched by nobody": "No program that ran loads or stores this element.",
    "touched by none of these": "None of the programs that were looked at loads or stores this element.",
    "outside the argument": "Memory that does not belong to the tensor: a lane that is not masked touches it.",
    "partly": "The tensor covers a part of the places that this cell stands for.",
    "in none of them": "Memory of the storage that no tensor shown here uses.",
    "shared by several tensors": "The same bytes belong to several tensors: a write through one is seen in the others.",
    "several elements at one place": "Elements with different indices are the same memory: a stride is 0 or too small.",
    "not needed": "This element has no part in the value that is looked at.",
    "loaded": "This element was loaded to make the value that is looked at.",
    "stored by this line": "An element to which the line stored.",
    "click to pick": "An element whose origins can be shown.",
    # Steps in storage, beside and below a picture.
    "right": "One element to the right lies so many elements further in storage: the stride of the last dimension. "
    "+1: neighbours touch, and lanes side by side share cache lines.",
    "down": "One row down lies so many elements further in storage: the stride of the last dimension but one.",
    "right:axis": "To the right, programs differ in this axis of the grid: tl.program_id(0) is x.",
    "down:axis": "Downwards, programs differ in this axis of the grid: tl.program_id(1) is y.",
    "cache": "A GPU fetches memory in sectors of 32 bytes, four of which make a cache line of 128. Lanes that share "
    "them cost one fetch.",
    "wrapped": "One dimension is one long line. It is cut into rows to fit the picture: where a row ends the next "
    "begins, and that elements stand below each other means nothing.",
    # Headings of tables.
    "shape": "How many elements the tensor has along each dimension.",
    "stride": "How many elements one step along each dimension is in storage. 0: all indices share one element.",
    "offset": "Where in its storage the tensor's first element is, counted in elements.",
    "dtype": "The type of an element, such as float32: four bytes.",
    "bytes:heading": "Elements times the size of one; a view may share them with others.",
    "is contiguous": "Whether the elements lie in reading order without gaps.",
    "storage": "The memory that a tensor looks at. Tensors with the same letter share it.",
    # The tabs.
    "tab:tiling": "Which program touches each element.",
    "tab:accesses": "How often, by whom, when and in which order each element is touched.",
    "tab:timeline": "Which elements are touched when: time runs down.",
    "tab:storage": "The tensors as they lie in memory.",
    "tab:grid": "The programs of the launch in the order in which they start, and what each does.",
    "tab:values": "What the kernel's variables held, block by block.",
    "tab:steps": "One program, assignment by assignment.",
    "tab:origins": "The elements that a stored value was made from.",
    "tab:autotuner": "The configurations that Triton's autotuner tried, what each took, and which one was taken.",
    "tab:layouts": "Which thread holds which element of each value, and what moves where a layout changes.",
    "tab:gpu and cpu": "The results of both, and where they differ.",
}
