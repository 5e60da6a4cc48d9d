/**
 * The language of all texts for users: English, unless a catalogue of translations is given. The English texts are the
 * keys of one gettext catalogue, in Python (`localization.py`) and here; `python -m tests.catalogue` collects both.
 *
 *     tr("{count} of {all} changed", { count, all })
 */

/**
 * For each English text its translation, or its plural forms. `forms` has, for each count from 0 to 199, the number of
 * its plural form as a digit; larger counts have the form of 100 and their last two digits.
 * @typedef {{language: string, forms: string, texts: Record<string, string[]>}} Catalogue
 * @typedef {Record<string, string | number>} Values
 */

const FORMS = 200;
const MOST_TEXTS = 20_000;

/** @type {Catalogue | null} null is English */
let catalogue = null;

/** Choose the language of all texts from now on. @param {Catalogue | null} next null is English */
export function useCatalogue(next) {
  catalogue = next;
}

/** The catalogue in use. */
export const catalogueInUse = () => catalogue;

/**
 * The catalogue that a page, a widget or a server hands over; null for English, and where it is damaged.
 * @param {unknown} data
 * @returns {Catalogue | null}
 */
export function catalogueFrom(data) {
  if (data === null || typeof data !== "object" || !("texts" in data && "forms" in data && "language" in data)) return null;
  const { language, forms, texts } = data;
  if (typeof language !== "string" || typeof forms !== "string" || !/^[0-9]{200}$/.test(forms)) return null;
  if (texts === null || typeof texts !== "object") return null;
  const every = /** @type {unknown[]} */ (Object.values(texts));
  return every.length <= MOST_TEXTS && every.every(isTranslation) ? { language, forms, texts: /** @type {Record<string, string[]>} */ (texts) } : null;
}

/** @param {unknown} own */
const isTranslation = (own) => Array.isArray(own) && own.length > 0 && /** @type {unknown[]} */ (own).every((one) => typeof one === "string");

/** @param {string} text @returns {string[] | null} */
const translationsOf = (text) => (catalogue && Object.hasOwn(catalogue.texts, text) ? catalogue.texts[text] : null);

/** The text with its places filled in: also of a sentence that Python has translated. @param {string} text @param {Values} values */
export const withValues = (text, values) => text.replace(/\{(\w+)\}/g, (place, /** @type {string} */ name) => (Object.hasOwn(values, name) ? String(values[name]) : place));

/**
 * A text in the chosen language, with its places filled in. The text is a literal.
 * @param {string} text @param {Values} values
 */
export const tr = (text, values = {}) => withValues(alone(text, translationsOf(text)?.[0] ?? text), values);

/**
 * `tr` for a text with a number: `one` for a single thing, else `many`, by the rules of the chosen language.
 * @param {string} one @param {string} many @param {number} count @param {Values} values
 */
export const trn = (one, many, count, values = {}) => withValues(alone(one, formOf(one, many, count)), values);

/** The form of a text that a number takes. @param {string} one @param {string} many @param {number} count */
function formOf(one, many, count) {
  const own = translationsOf(one);
  if (!own || !catalogue) return count === 1 ? one : many;
  const at = Math.abs(Math.trunc(count));
  return own[Number(catalogue.forms[at < FORMS ? at : 100 + (at % 100)])] ?? own[0];
}

/**
 * A noun behind a number. Chinese has a measure word there, which a translation puts before a `|`; before `||` stands a
 * noun that is another word there.
 * @param {string} one @param {string} many @param {number} count
 */
export function countedNoun(one, many, count) {
  const own = formOf(one, many, count);
  return own.includes("||") ? own.slice(0, own.indexOf("||")) : own.replace("|", "");
}

/** A noun without a number, or before it. @param {string} one @param {string} many @param {number} count */
export const nounAlone = (one, many, count) => trn(one, many, count);

/**
 * The translation of a text where no number stands before it: without a measure word. (A text that has a `|` itself is
 * no noun.)
 * @param {string} text @param {string} own
 */
const alone = (text, own) => (text.includes("|") || !own.includes("|") ? own : own.slice(own.lastIndexOf("|") + 1).trim());

/**
 * `tr` for a text in which nodes stand: the pieces in their order.
 * @param {string} text @param {Record<string, Node | string>} nodes
 * @returns {(Node | string)[]}
 */
export const trParts = (text, nodes) =>
  tr(text).split(/(\{\w+\})/).filter(Boolean).map((piece) => nodes[piece.slice(1, -1)] ?? piece);

/**
 * Do something in another language than the page's.
 * @template Made
 * @param {Catalogue | null} own
 * @param {() => Made} act
 * @returns {Made}
 */
export function inLanguage(own, act) {
  const before = catalogue;
  catalogue = own;
  try {
    return act();
  } finally {
    catalogue = before;
  }
}

const EVENTS = ["click", "change", "input", "keydown", "focusin", "focusout", "focus", "blur", "pointerdown", "pointermove", "pointerenter", "pointerleave", "toggle", "wheel"];

/**
 * Have what listens inside a node speak a language of its own: a saved picture keeps the one that it was made in.
 * @param {HTMLElement} root
 * @param {Catalogue | null} own
 */
export function keepLanguage(root, own) {
  const speak = () => {
    if (own === catalogue) return;
    const before = catalogue;
    catalogue = own;
    // Once all listeners of the event are done: each is a call of its own, so a microtask comes too early.
    setTimeout(() => (catalogue = before), 0);
  };
  for (const name of EVENTS) root.addEventListener(name, speak, { capture: true, passive: true });
}

/** @type {{of: Catalogue | null, words: Map<string, string>}} */
let backwards = { of: null, words: new Map() };

/**
 * The English of a word that is shown, in lower case: what the glossary and other tables have as their key.
 * @param {string} word
 */
export function englishOf(word) {
  const shown = word.toLowerCase();
  if (!catalogue) return shown;
  if (backwards.of !== catalogue) {
    const words = Object.entries(catalogue.texts).map(([text, own]) => /** @type {[string, string]} */ ([alone(text, own[0]).toLowerCase(), text.toLowerCase()]));
    backwards = { of: catalogue, words: new Map(words.reverse()) };
  }
  return backwards.words.get(shown) ?? shown;
}
