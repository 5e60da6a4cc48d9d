"""The drawing kit: a picture is described once, as plain data, and drawn by matplotlib and by the browser.

Cells are a `heatmap.Heatmap`, which `raster` and `figure` paint here, and `front/drawing/heatmap.js` in the browser.
Shapes and words are a `drawing.Drawing`, which `drawing_figure` draws here, and `front/drawing/drawing.js` in the
browser. `figure_pieces` puts both below each other. This folder imports no launch, no scop and no widget.
"""
