/** A picture that was saved in a notebook's output: data of a stranger, so it is parsed and checked before it is drawn. */

import { wrongOf } from "./check.js";
import { decoded, encoded, unzipped, zippedText } from "./packed.js";
import { show } from "./view.js";
import { tr } from "./localization.js";

/** @typedef {import("./scenes.js").Saved} Saved */
/** @typedef {import("./scenes.js").Scene} Scene */

export const MOST_CHARACTERS = 256 * 1024; // of a packed scene, as in `notebook_output.py`
const MOST_UNPACKED = 16 * 1024 * 1024; // bytes

const LANGUAGE = /^[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8}){0,2}$/;
const MOST_TOLD = 200; // letters
const MOST_NOTED = 64; // kernels of one cell

/** What cannot be drawn, and why, in a sentence. */
export class CannotDraw extends Error {}

/** What is too large to be drawn: a kernel that made it may still be asked for it. */
export class TooLarge extends CannotDraw {}

/**
 * The output's data by its fields; throws CannotDraw where it is none of ours.
 * @param {unknown} data
 * @returns {Saved}
 */
export function savedOf(data) {
  if (data === null || typeof data !== "object" || !("version" in data)) throw new CannotDraw(tr("This output is damaged."));
  const { version, ...rest } = data;
  if (version !== 1) throw new CannotDraw(tr("This output was saved by another version of triton-lab."));
  const { scene, view, follows, panel, language } = /** @type {Record<string, unknown>} */ (rest);
  /** @type {Saved} */
  const saved = { version, follows: follows === true, panel: panel === true };
  if (typeof view === "string") saved.view = view;
  if (typeof language === "string" && LANGUAGE.test(language)) saved.language = language;
  const annotations = annotationsOf(data);
  if (annotations.length) saved.annotations = annotations;
  if (typeof scene === "string") saved.scene = scene;
  else if (scene !== undefined) throw new CannotDraw(tr("This output is damaged."));
  return saved;
}

/**
 * What an output says of the lines of kernels: nothing where that is damaged, or too much.
 * @param {unknown} data
 * @returns {import("./scenes.js").NotedSource[]}
 */
export function annotationsOf(data) {
  const found = data !== null && typeof data === "object" && "annotations" in data ? data.annotations : [];
  const wrong = wrongOf(found, { list: { of: "NotedSource" }, most: MOST_NOTED }) !== null || JSON.stringify(found).length > MOST_CHARACTERS;
  return wrong ? [] : /** @type {import("./scenes.js").NotedSource[]} */ (found);
}

/**
 * The scene that was saved; its parts that are damaged or too large say so in their place. Throws CannotDraw.
 * @param {string} text
 * @returns {Promise<Scene>}
 */
export async function sceneOf(text) {
  const scene = await readFrom(text);
  if (scene !== null && typeof scene === "object" && "parts" in scene) scene.parts = soundParts(scene.parts);
  const wrong = wrongOf(scene);
  if (wrong?.large) throw new TooLarge(tr("This picture is too large to be drawn ({reason}).", { reason: wrong.told.slice(0, MOST_TOLD) }));
  if (wrong) throw new CannotDraw(tr("This output was saved by another version of triton-lab, or is damaged ({reason}).", { reason: wrong.told.slice(0, MOST_TOLD) }));
  return /** @type {Scene} */ (scene);
}

/** @param {string} text @returns {Promise<unknown>} */
async function readFrom(text) {
  if (text.length > MOST_CHARACTERS) {
    throw new TooLarge(tr("This picture is too large to be drawn ({count} letters; at most {most} are allowed).", { count: text.length, most: MOST_CHARACTERS }));
  }
  try {
    return decoded(await unzipped(text, MOST_UNPACKED));
  } catch (error) {
    throw error instanceof RangeError ? new TooLarge(tr("This picture is too large to be drawn ({reason}).", { reason: error.message })) : new CannotDraw(tr("This output is damaged."));
  }
}

/** @param {unknown} parts @returns {unknown} */
function soundParts(parts) {
  if (parts === null || typeof parts !== "object") return parts;
  const entries = Object.entries(/** @type {Record<string, unknown>} */ (parts));
  return Object.fromEntries(entries.map(([name, part]) => {
    const wrong = wrongOf(part);
    return [name, wrong ? { kind: "words", text: wrong.large
      ? tr("This picture is too large to be drawn from a saved notebook. Run the cell again to see it.")
      : tr("This picture is damaged, or was saved by another version of triton-lab. Run the cell again to see it.") } : part];
  }));
}

/**
 * The packed text with one more part in it; null where it would be too large, or where the scene has no parts.
 * @param {string} text
 * @param {string} name
 * @param {Scene} part
 * @returns {Promise<string | null>}
 */
export async function withPart(text, name, part) {
  const scene = await unzipped(text, MOST_UNPACKED);
  if (scene === null || typeof scene !== "object" || !("parts" in scene)) return null;
  return packedOf({ ...scene, parts: { .../** @type {object} */ (scene.parts), [name]: encoded(part) } });
}

/**
 * Take over the parts that a picture has come to have. False, and nothing is taken, where it is another picture.
 * @param {Scene} shown what is drawn; who draws it finds the parts in it
 * @param {Scene} grown the same with more parts
 */
export function tookParts(shown, grown) {
  const more = partsMissing(shown, grown);
  more?.forEach(([parts, name, part]) => (parts[name] = part));
  return more !== null;
}

/**
 * The parts that one scene has and the other lacks, each with where it belongs; null where that is not all in which
 * they differ.
 * @param {Scene} shown
 * @param {Scene} grown
 * @returns {[Record<string, Scene>, string, Scene][] | null}
 */
function partsMissing(shown, grown) {
  if (!("parts" in shown && "parts" in grown) || textWithout(shown) !== textWithout(grown)) return null;
  /** @type {[Record<string, Scene>, string, Scene][]} */
  const found = [];
  for (const name of new Set([...Object.keys(shown.parts), ...Object.keys(grown.parts)])) {
    const [before, after] = [shown.parts, grown.parts].map((parts) => (Object.hasOwn(parts, name) ? parts[name] : null));
    if (!after) return null;
    if (!before) found.push([shown.parts, name, after]);
    else if (before.kind === "nested" && after.kind === "nested") {
      const inner = before.name === after.name ? partsMissing(before.scene, after.scene) : null;
      if (!inner) return null;
      found.push(...inner);
    } else if (JSON.stringify(encoded(before)) !== JSON.stringify(encoded(after))) return null;
  }
  return found;
}

/** @param {Scene} scene */
const textWithout = (scene) => JSON.stringify(encoded({ ...scene, parts: null }));

/**
 * The part of that name, as it is asked for: behind the names of the scenes that it is in.
 * @param {Scene} scene
 * @param {string} name
 * @returns {Scene | null}
 */
export function partIn(scene, name) {
  if (!("parts" in scene)) return null;
  if (Object.hasOwn(scene.parts, name)) return scene.parts[name];
  for (const inner of Object.values(scene.parts)) {
    if (inner.kind === "nested" && name.startsWith(`${inner.name}/`)) return partIn(inner.scene, name.slice(inner.name.length + 1));
  }
  return null;
}

/**
 * A scene packed; null where it would be too large.
 * @param {unknown} scene
 * @returns {Promise<string | null>}
 */
export async function packedOf(scene) {
  const json = JSON.stringify(encoded(scene));
  if (json.length > MOST_UNPACKED) return null;
  const text = await zippedText(json);
  return text.length <= MOST_CHARACTERS ? text : null;
}

/**
 * Draw it; throws CannotDraw, and leaves nothing behind, where that is not possible.
 * @param {Scene} scene
 * @param {HTMLElement} place
 * @param {import("./selection.js").Selection} selection
 * @param {import("./supply.js").Channel | null} channel
 * @param {import("./place.js").Place} open the user's place in the card that was here before, and in this one
 * @param {import("./linked.js").Link} [link] what shows the lines of kernels
 * @param {import("./localization.js").Catalogue | null} [texts] the language that it was saved in
 * @returns {() => void} how to take it out again
 */
export function showSaved(scene, place, selection, channel, open = {}, link = undefined, texts = undefined) {
  try {
    return show(scene, place, selection, channel, true, open, link, texts);
  } catch {
    place.replaceChildren();
    throw new CannotDraw(tr("This output is damaged."));
  }
}
