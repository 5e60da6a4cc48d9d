/** A conversion: the tensor before and after, and the registers after by how far what they hold comes. */

import { make } from "../drawing/dom.js";
import { unravel } from "../drawing/frame.js";
import { bitsIn, copiesOf, heldOf } from "./held.js";
import { indexText, partWord } from "./matrix.js";
import { PositionsPicture } from "./picture.js";
import { fieldsOf, shortText } from "./fields.js";
import { tr } from "../localization.js";

const MOST_WAYS = 4; // written out

/** @type {import("../part.js").Draw<import("../scenes.js").ConversionScene>} */
export function conversionOf(scene) {
  const { shape, moves, ways } = scene;
  const elements = shape.reduce((product, size) => product * size, 1);
  const sides = [scene.before, scene.after].map((side, k) => {
    const { held, place, bits } = heldOf(side);
    const fields = fieldsOf({ ...side, where: "registers", bits: 0 });
    const picture = new PositionsPicture(side.tensor, k ? tr("the tensor after") : tr("the tensor before"));
    const copies = copiesOf(held, elements);
    picture.heatmap.onword = (cell) => shortText("registers", fields, copies(picture.at(cell))[0]);
    return { held, place, bits, fields, picture, copies };
  });
  const [before, after] = sides;
  const flow = new PositionsPicture(scene.flow, tr("the registers after"));
  flow.heatmap.onword = (cell) => unravel(after.held[flow.at(cell)], shape).join(",");
  /** The position before of each packed place. */
  const known = new Int32Array(1 << before.bits.length);
  before.place.forEach((packed, position) => (known[packed] = position));
  /** The position before from which what is wanted at a position after comes. @param {number} position */
  const sourceOf = (position) => known[bitsIn(after.place[position]).reduce((from, bit) => from ^ moves[bit], 0)] ?? 0;
  const status = make("div", { class: "tl-status", "aria-live": "polite" });
  /** @type {{element: number} | {position: number} | null} */
  let picked = scene.element === null ? null : { element: scene.element };

  const index = (/** @type {number} */ element) => indexText(unravel(element, shape));
  /** @param {number} position */
  const wayText = (position) => {
    const from = sourceOf(position);
    const [here, there] = [before.fields.map(({ of }) => of(from)), after.fields.map(({ of }) => of(position))];
    // From the outermost part on: how far apart the two are is told by the first that differs.
    const names = after.fields.map(({ name }) => name);
    const apart = names.findIndex((name, k) => here[before.fields.findIndex((one) => one.name === name)] !== there[k]);
    const told = (/** @type {import("./fields.js").Field[]} */ fields, /** @type {number} */ at) => fields.map(({ name, of }) => `${partWord(name)} ${of(at)}`).join(", ");
    if (apart < 0) return tr("stays in {place}", { place: told(after.fields, position) });
    const level = ["register", "thread", "warp", "CTA"].indexOf(names[apart]) + 1;
    return tr("from {before} to {after}, {way}", { before: told(before.fields, from), after: told(after.fields, position), way: ways[level] });
  };
  /** @param {number} element */
  const elementText = (element) => {
    const wanted = Array.from(after.copies(element));
    const told = wanted.slice(0, MOST_WAYS).map(wayText);
    if (wanted.length > MOST_WAYS) told.push(tr("{count} more", { count: wanted.length - MOST_WAYS }));
    return [tr("element {index}", { index: index(element) }), ...told].join(" · ");
  };
  const placeText = (/** @type {number} */ position) => `${tr("element {index}", { index: index(after.held[position]) })} · ${wayText(position)}`;
  const rest = () => (!picked ? tr("Pick an element to see where it moves, or a register to see where its value comes from.") : "element" in picked ? elementText(picked.element) : placeText(picked.position));

  const update = () => {
    const element = !picked ? null : "element" in picked ? picked.element : after.held[picked.position];
    for (const { picture } of sides) picture.choose(element === null ? null : [element]);
    flow.choose(!picked ? null : "element" in picked ? after.copies(picked.element) : [picked.position]);
    status.textContent = rest();
  };
  const pick = (/** @type {{element: number} | {position: number}} */ next) => {
    picked = JSON.stringify(next) === JSON.stringify(picked) ? null : next;
    update();
  };
  for (const { picture, word } of [...sides.map(({ picture }) => ({ picture, word: elementText })), { picture: flow, word: placeText }]) {
    const { heatmap } = picture;
    heatmap.onkey = (key) => key === "Escape" && picked !== null && (pick(picked), true);
    heatmap.onpick = (cell) => pick(picture === flow ? { position: picture.at(cell) } : { element: picture.at(cell) });
    heatmap.onpoint = (cell) => {
      const told = cell ? word(picture.at(cell)) : rest();
      status.textContent = told;
      return cell ? told : undefined;
    };
  }
  const node = make(
    "div", { class: "tl-conversion" },
    make("div", { class: "tl-title" }, scene.title), ...scene.says.map((line) => make("div", { class: "tl-note" }, line)), status,
    make("div", { class: "tl-row" }, ...sides.map(({ picture }) => picture.heatmap.node), flow.heatmap.node),
  );
  return { node, draw: update };
}
