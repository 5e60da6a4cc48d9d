/** Choosing an instance: by arrow keys, Enter and Escape, or by a click. */

/** @typedef {import("./stage.js").DomainStage} DomainStage */

/** Which coordinate a key changes, and which way. @type {Record<string, [number, number]>} */
const ARROWS = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowRight: [1, 1], ArrowLeft: [1, -1] };

const MOST_CHOSEN = 200; // as in `scene.py`

/** The coordinates of a visit's instance. @param {DomainStage} stage @param {number} v */
export function pointOf(stage, v) {
  const size = stage.scene.dims.length;
  const at = stage.visits[2 * v + 1] * size;
  return Array.from(stage.layers[stage.visits[2 * v]].points.slice(at, at + size));
}

/** The visits of the instances at a point, of all statements. @param {DomainStage} stage @param {number[]} point */
function visitsAt(stage, point) {
  const found = [];
  const numbers = stage.lookup.map((points) => points.get(point.join()));
  for (let v = 0; v < stage.count && found.length < MOST_CHOSEN; v++) if (numbers[stage.visits[2 * v]] === stage.visits[2 * v + 1]) found.push(v);
  return found;
}

/**
 * The first visit of the nearest instance along a dimension: least aside, then least far; -1 where there is none.
 * @param {DomainStage} stage @param {number} from a visit @param {number} axis @param {number} sign
 */
function neighbour(stage, from, axis, sign) {
  const size = stage.scene.dims.length;
  const here = pointOf(stage, from);
  const own = stage.visits[2 * from];
  let [best, aside, along] = [-1, Infinity, Infinity];
  for (let v = 0; v < stage.count; v++) {
    const { points } = stage.layers[stage.visits[2 * v]];
    const at = stage.visits[2 * v + 1] * size;
    const far = (points[at + axis] - here[axis]) * sign;
    if (far <= 0) continue;
    // Of two statements on one point, the one that we come from.
    let off = stage.visits[2 * v] === own ? 0 : 0.5;
    for (let k = 0; k < size; k++) if (k !== axis) off += Math.abs(points[at + k] - here[k]);
    if (off < aside || (off === aside && far < along)) [best, aside, along] = [v, off, far];
  }
  return best;
}

/** Where a key leads from a visit (-1: from none yet), or null for other keys. @param {DomainStage} stage @param {string} key @param {number} from */
function led(stage, key, from) {
  if (key === "Home") return 0;
  if (key === "End") return stage.count - 1;
  // In the order of the schedule, so that all instances can be reached.
  if (key === "PageDown") return Math.min(stage.count - 1, from + 1);
  if (key === "PageUp") return Math.max(0, from - 1);
  if (!(key in ARROWS)) return null;
  if (from < 0) return 0;
  const [axis, sign] = ARROWS[key];
  const found = neighbour(stage, from, stage.scene.dims.length === 1 ? 0 : axis, sign);
  return found < 0 ? from : found;
}

/**
 * Lets instances of `stage` be chosen. `choose` is told its visits; none where it is let go.
 * @param {DomainStage} stage @param {(visits: number[]) => void} choose
 */
export function choosing(stage, choose) {
  let aimed = -1;
  const none = () => {
    aimed = -1;
    choose([]);
  };
  const aim = (/** @type {number} */ v) => {
    aimed = v;
    stage.light("");
    stage.top([v]);
    stage.tell(stage.describe(v), "");
  };
  stage.node.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || !stage.count) return;
    const from = aimed >= 0 ? aimed : stage.chosen[0] ?? -1;
    const next = led(stage, event.key, from);
    if (next !== null) aim(next);
    else if (event.key === "Enter" && from >= 0) choose(visitsAt(stage, pointOf(stage, from)));
    else if (event.key === "Escape" && (from >= 0 || stage.chosen.length)) none();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  stage.node.addEventListener("blur", () => {
    if (aimed < 0) return;
    aimed = -1;
    stage.rest();
  });
  /** @type {{x: number, y: number} | null} */
  let down = null;
  stage.node.addEventListener("pointerdown", (event) => (down = { x: event.clientX, y: event.clientY }));
  stage.node.addEventListener("click", (event) => {
    // Where space was turned, nothing is meant to be chosen.
    if (down && Math.hypot(event.clientX - down.x, event.clientY - down.y) > 4) return;
    const box = stage.node.getBoundingClientRect();
    const v = stage.visitAt(event.clientX - box.left, event.clientY - box.top);
    if (v < 0) none();
    else choose(visitsAt(stage, pointOf(stage, v)));
  });
}
