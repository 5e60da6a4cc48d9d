/**
 * MyST's plugin: makes each of our pictures in an executed notebook an `anywidget` node, which MyST's themes draw live.
 * An `outputs` node that has other outputs, too, keeps those.
 */

const SCENE = "application/vnd.triton-lab.scene.v1+json";

/** The packed scene of an output, if it is one of ours that was saved whole. */
function sceneOf(output) {
  let saved = output.jupyter_data?.data?.[SCENE];
  if (typeof saved === "string") saved = JSON.parse(saved);
  return typeof saved?.scene === "string" ? saved.scene : null;
}

/** The children of a node with pictures in place of their outputs. */
function withPictures(children) {
  return children.flatMap((node) => {
    if (node.type !== "outputs") {
      if (node.children) node.children = withPictures(node.children);
      return [node];
    }
    const found = [];
    node.children = (node.children ?? []).filter((output) => {
      const scene = sceneOf(output);
      if (scene !== null) found.push({ type: "anywidget", esm: "/triton-lab-picture.mjs", css: "/triton-lab.css", model: { packed: scene }, id: `${node.id}-${found.length}` });
      return scene === null;
    });
    return [node, ...found];
  });
}

const pictures = {
  name: "triton-lab-pictures",
  doc: "Live pictures of triton-lab in executed notebooks.",
  stage: "document",
  plugin: () => (tree) => {
    tree.children = withPictures(tree.children);
  },
};

export default { name: "triton-lab", transforms: [pictures] };
