"""The drawing kit: layouts, heatmaps, pixels and figures.

Here a picture is cells, classes and words. It knows no launch, no scop and no widget.
"""
