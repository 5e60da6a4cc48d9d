"""The drawing kit: a picture is described once, as plain data, and drawn by matplotlib and by the browser.

Shapes and words are a `drawing.Drawing`, which `drawing_figure` draws here, and `front/drawing/drawing.js` in the
browser; `solid` is one in space, which a reader turns in the browser. Cells are a `heatmap.Heatmap`, which
`front/drawing/heatmap.js` paints in the browser, and `heatmap_drawing` turns into a drawing. `drawing_pieces` has what
static pictures are put together from. Only `drawing_figure`, `png` and `fonts` know matplotlib. This folder imports no
launch, no scop and no widget.
"""
