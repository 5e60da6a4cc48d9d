"""The drawing kit: layouts, heatmaps, pixels and figures.

Here a picture consists of cells, classes and words. This folder imports no launch, no scop and no widget.
"""
