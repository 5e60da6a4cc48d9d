"""What pictures are computed from: who touches an element, how often, in which order.

Arrays and counts, for elements, bytes and programs. It knows no colours and no drawing.
"""
