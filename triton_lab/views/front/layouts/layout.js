/** A layout: the tensor, the hardware and the bits, linked. Pick an element, a place or a bit, and see the others. */

import { make } from "../drawing/dom.js";
import { unravel } from "../drawing/frame.js";
import { themeOf } from "../drawing/theme.js";
import { countOf } from "../drawing/words.js";
import { fieldsOf, shortText } from "./fields.js";
import { bitsIn, copiesOf, heldOf } from "./held.js";
import { calledPart, indexText, matrixOf, partWord } from "./matrix.js";
import { PositionsPicture } from "./picture.js";
import { tr, trn } from "../localization.js";

const MOST_COPIES = 4; // written out
const MOST_HELD = 8;

/** @typedef {import("../scenes.js").LayoutScene} LayoutScene */
/** @typedef {import("./fields.js").Field} Field */
/**
 * @typedef {{element: number} | {position: number} | {fields: (number | null)[]} | {bit: number} | null} LayoutPick
 */

/** @type {import("../part.js").Draw<LayoutScene>} */
export function layoutOf(scene) {
  const { shape } = scene;
  const { held, place, bits } = heldOf(scene);
  const copies = copiesOf(held, shape.reduce((product, size) => product * size, 1));
  const fields = fieldsOf(scene);
  const tensor = new PositionsPicture(scene.tensor, tr("the tensor"));
  const hardware = new PositionsPicture(scene.hardware, tr("the hardware"));
  const status = make("div", { class: "tl-status", "aria-live": "polite" });
  const sum = make("div", { class: "tl-sum" });
  /** @type {LayoutPick} */
  let picked = firstPick(scene, fields);

  const index = (/** @type {number} */ element) => indexText(unravel(element, shape));
  const placeText = (/** @type {number} */ position) => {
    const words = fields.map(({ name, of }) => `${partWord(name)} ${of(position)}`);
    if (scene.where === "shared memory") words.push(tr("byte {number}", { number: byteOf(scene, position) }));
    return words.join(", ");
  };
  const elementText = (/** @type {number} */ element) => {
    const own = copies(element);
    const told = Array.from(own.subarray(0, MOST_COPIES), placeText);
    if (own.length > MOST_COPIES) told.push(tr("{count} more", { count: own.length - MOST_COPIES }));
    return [tr("element {index}", { index: index(element) }), ...(own.length > 1 ? [tr("held {count} times", { count: own.length })] : []), ...told].join(" · ");
  };
  const heldText = (/** @type {number} */ position) =>
    `${placeText(position)} · ${held[position] < 0 ? tr("holds nothing") : tr("holds element {index}", { index: index(held[position]) })}`;

  /** The positions that are picked. @returns {number[] | Int32Array | null} */
  const positions = () => {
    if (!picked) return null;
    if ("element" in picked) return copies(picked.element);
    if ("position" in picked) return [picked.position];
    const found = [];
    const mask = "bit" in picked ? 1 << orderOf(bits, scene.matrix.bits[picked.bit]) : 0;
    const wanted = "fields" in picked ? picked.fields : [];
    for (let position = 0; position < held.length; position++) {
      const own = mask ? place[position] >= 0 && place[position] & mask : wanted.every((number, k) => number === null || fields[k].of(position) === number);
      if (own && held[position] >= 0) found.push(position);
    }
    return found;
  };

  /** The bits of what is picked, as columns of the matrix. */
  const lit = () => {
    const found = new Set();
    if (!picked) return found;
    if ("bit" in picked) return found.add(picked.bit);
    if ("fields" in picked) {
      picked.fields.forEach((number, k) => {
        for (const bit of bitsIn(number ?? 0)) {
          const at = scene.matrix.bits.findIndex((one) => calledPart(one.part) === fields[k].name && one.bit === bit);
          if (at >= 0) found.add(at);
        }
      });
      return found;
    }
    const at = place["element" in picked ? copies(picked.element)[0] : picked.position];
    for (const bit of bitsIn(Math.max(0, at))) found.add(scene.matrix.bits.indexOf(bits[bit]));
    return found;
  };

  /** @param {number[] | Int32Array | null} chosen */
  const words = (chosen) => {
    if (!picked || !chosen) return tr("Pick an element to see which threads hold it. Pick a place, a part of the hardware or a bit to see what it holds.");
    if ("element" in picked) return elementText(picked.element);
    if ("position" in picked) return heldText(picked.position);
    const found = [...new Set(Array.from(chosen, (position) => held[position]))];
    const told = found.slice(0, MOST_HELD).map(index);
    if (found.length > MOST_HELD) told.push("…");
    if ("bit" in picked) {
      const { part, bit, vector } = scene.matrix.bits[picked.bit];
      return [
        `${partWord(part)} ${2 ** bit}`,
        tr("this bit moves the place's element by {vector} (exclusive or)", { vector: indexText(vector) }),
        trn("{count} element has it", "{count} elements have it", found.length, { count: found.length.toLocaleString("en-US") }),
      ].join(" · ");
    }
    const named = picked.fields.flatMap((number, k) => (number === null ? [] : [`${partWord(fields[k].name)} ${number}`]));
    return `${named.join(", ")} · ${countOf(found.length, "element")}: ${told.join(" ")}`;
  };

  /** How the columns that are lit add up. @param {Set<number>} columns */
  const sumText = (columns) => {
    if (!picked || "bit" in picked || "fields" in picked || !columns.size) return "";
    const vectors = [...columns].sort((a, b) => a - b).map((k) => scene.matrix.bits[k]);
    const end = vectors.reduce((total, { vector }) => total.map((value, axis) => value ^ vector[axis]), shape.map(() => 0));
    return `${vectors.map(({ part, bit, vector }) => `${partWord(part)} ${2 ** bit}: ${indexText(vector)}`).join("  xor  ")}  =  ${indexText(end)}`;
  };

  const update = () => {
    const chosen = positions();
    hardware.choose(chosen);
    tensor.choose(chosen && Array.from(chosen, (position) => held[position]).filter((element) => element >= 0));
    const columns = lit();
    matrix.light(columns, picked && "bit" in picked ? picked.bit : null);
    status.textContent = words(chosen);
    sum.textContent = sumText(columns);
    const named = !picked ? [] : "fields" in picked ? picked.fields : "position" in picked ? fields.map(({ of }) => of(/** @type {{position: number}} */ (picked).position)) : [];
    menus.forEach((menu, k) => (menu.value = String(named[k] ?? "")));
  };
  const pick = (/** @type {LayoutPick} */ next) => {
    picked = JSON.stringify(next) === JSON.stringify(picked) ? null : next;
    update();
  };

  const matrix = matrixOf(scene.matrix.bits, scene.columns, (bit) => pick({ bit }));
  const menus = fields.map(({ name, size }) =>
    make(
      "select", {
        class: "tl-menu", "aria-label": partWord(name),
        onchange: () => {
          const numbers = menus.map((menu) => (menu.value === "" ? null : Number(menu.value)));
          picked = numbers.some((number) => number !== null) ? { fields: numbers } : null;
          update();
        },
      },
      make("option", { value: "" }, tr("all")), ...Array.from({ length: size }, (_, number) => make("option", { value: number }, String(number))),
    ));
  for (const one of [tensor, hardware]) {
    const { heatmap } = one;
    heatmap.onkey = (key) => key === "Escape" && picked !== null && (pick(picked), true);
    heatmap.onpick = (cell) => pick(one === tensor ? { element: one.at(cell) } : { position: one.at(cell) });
    heatmap.onpoint = (cell) => {
      const told = cell ? (one === tensor ? elementText(one.at(cell)) : heldText(one.at(cell))) : words(positions());
      status.textContent = told;
      return cell ? told : undefined;
    };
  }
  tensor.heatmap.onword = (cell) => shortText(scene.where, fields, copies(tensor.at(cell))[0]);
  hardware.heatmap.onword = (cell) => {
    const element = held[hardware.at(cell)];
    return element < 0 ? "" : unravel(element, shape).join(",");
  };
  const clear = make("button", { type: "button", class: "tl-step", onclick: () => picked && pick(picked) }, tr("show all"));
  const node = make(
    "div", { class: "tl-layout" },
    make("div", { class: "tl-title" }, scene.title), ...scene.says.map((line) => make("div", { class: "tl-note" }, line)),
    make("div", { class: "tl-controls" }, ...fields.map(({ name }, k) => make("label", {}, `${partWord(name)} `, menus[k])), clear),
    status,
    make(
      "div", { class: "tl-row" }, tensor.heatmap.node, hardware.heatmap.node,
      make("div", { class: "tl-heatmap tl-matrix" }, make("div", { class: "tl-title" }, scene.columns.label), matrix.node, sum),
    ),
  );
  return {
    node,
    draw() {
      matrix.draw(themeOf(node));
      update();
    },
  };
}

/** Where a bit stands among others. @param {import("./held.js").Bit[]} bits @param {import("./held.js").Bit} wanted */
const orderOf = (bits, wanted) => bits.findIndex(({ part, bit }) => part === wanted.part && bit === wanted.bit);

/** The byte of shared memory at which a position begins. @param {LayoutScene} scene @param {number} position */
function byteOf({ axes, bits }, position) {
  const each = axes.slice(1).reduce((product, { size }) => product * size, 1);
  return (position % each) * (Math.max(8, bits) / 8);
}

/** What Python has picked. @param {LayoutScene} scene @param {Field[]} fields @returns {LayoutPick} */
function firstPick({ element, picked }, fields) {
  if (element !== null) return { element };
  const numbers = fields.map(({ name }) => picked[name] ?? (name === "CTA" ? picked.block : undefined) ?? null);
  return numbers.some((number) => number !== null) ? { fields: numbers } : null;
}
