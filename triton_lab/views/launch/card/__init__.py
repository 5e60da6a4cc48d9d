"""The card of a launch: its header, its tabs, and `launch.plot`.

`launch_tabs` has the table of all pictures, `launch_plot` the methods that make them, `launch_card` the card
below its `card_head`, `card_tab` the type of a tab.
"""
