/** Pass by pass: what each changed as a diff, its time, and which pass brought an operation in. */

import { make } from "../drawing/dom.js";
import { wordOf } from "../drawing/explained.js";
import { countOf } from "../drawing/words.js";
import { oneProgramPicker } from "../launch/pickers.js";
import { CodeList } from "./codelist.js";
import { tr, trParts } from "../localization.js";

const ANY = "";
const MOST_GROWN = 3;

/** @typedef {import("../scenes.js").PassScene} PassScene */

/**
 * @param {import("../scenes.js").PassesScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {import("../part.js").Part}
 */
export function passesOf(scene, selection, context) {
  const { name, title, headline, introduced } = scene;
  let { passes, program = 0 } = scene;
  const wrong = passes.findIndex((one) => one.mark === "≠");
  let shown = Math.max(0, wrong >= 0 ? wrong : passes.findIndex((one) => one.changed && one.diff));
  let reach = shown;
  /** @type {CodeList | null} */
  let list = null;
  const place = make("div", { class: "tl-passdiff" });
  const told = make("div", { class: "tl-status", "aria-live": "polite" });
  const longest = Math.max(...passes.map(({ seconds }) => seconds ?? 0), 1e-9);
  const rows = passes.map((one, k) => {
    const bar = make("span", { class: "tl-passbar" });
    bar.style.width = `${one.seconds === null ? 0 : Math.max(1, Math.round((40 * one.seconds) / longest))}px`;
    return make(
      "div",
      {
        class: one.changed ? "tl-pass" : "tl-pass tl-passidle", role: "option", tabindex: -1,
        title: one.argument, onclick: () => show(k), onfocus: () => (reach = k),
      },
      make("span", { class: "tl-number" }, one.argument ? String(k) : ""),
      make("span", { class: one.mark === "≠" ? "tl-passmark tl-passwrong" : "tl-passmark", title: one.result }, one.mark),
      make("span", { class: "tl-passname" }, one.name),
      make("span", { class: "tl-passtime" }, one.seconds === null ? "" : `${(1000 * one.seconds).toFixed(1)} ms`),
      make("span", { class: "tl-passbars" }, bar),
    );
  });
  /** @param {number} number */
  function show(number) {
    shown = reach = number;
    const one = passes[number];
    rows.forEach((row, k) => {
      row.setAttribute("aria-selected", String(k === number));
      row.tabIndex = k === number ? 0 : -1;
    });
    told.textContent = wordsFor(one);
    list = one.diff ? diffOf(one) : null;
    place.replaceChildren(list ? list.node : make("div", { class: "tl-words" }, one.argument ? tr("This pass changed nothing.") : tr("The compiler begins here. There is nothing to compare with.")));
    list?.update();
  }
  /** @param {KeyboardEvent} event */
  const onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -passes.length, End: passes.length }[event.key];
    if (step === undefined) return;
    const next = Math.min(passes.length - 1, Math.max(0, reach + step));
    show(next);
    rows[next].focus();
    event.preventDefault();
    event.stopPropagation();
  };
  const found = make("span", { class: "tl-told" });
  const explained = make("span", { class: "tl-note" });
  const menu = make(
    "select",
    {
      class: "tl-menu", "aria-label": tr("which pass introduced this operation"),
      onchange: () => {
        const one = introduced.find(([name]) => name === menu.value);
        rows.forEach((row, k) => row.classList.toggle("tl-passbrings", Boolean(one?.[2].includes(k))));
        found.textContent = one ? one[2].map((k) => passes[k].name).join(" → ") : "";
        explained.textContent = one ? one[1] : "";
        if (one) {
          show(one[2][0]);
          rows[one[2][0]].scrollIntoView?.({ block: "nearest" });
        }
      },
    },
    make("option", { value: ANY }, tr("operation …")),
    ...introduced.map(([name]) => make("option", { value: name }, name)),
  );
  const changing = passes.filter((one) => one.changed && one.argument).length;
  const head = make(
    "div", { class: "tl-controls" },
    make("span", {}, tr("{passes}, of which {count} changed something", { passes: countOf(passes.length - 1, "pass", "passes"), count: changing })),
    make("label", {}, `${tr("Which pass introduced")} `, menu), found,
  );
  const listing = make("div", { class: "tl-passlist", role: "listbox", "aria-label": tr("passes in their order"), onkeydown }, ...rows);
  const note = make("div", { class: "tl-note" }, scene.note);
  const status = make("div", { class: "tl-note", role: "status" });
  const programs = oneProgramPicker(scene.grid ?? [1, 1, 1], selection, () => program);
  /** @type {number | null} the program that was asked for: one at a time, since each is a run of all modules */
  let awaited = null;
  const follow = () => {
    programs.update();
    const wanted = selection.get().program ?? scene.program ?? 0;
    if (!context.live || wanted === program || awaited !== null) return;
    awaited = wanted;
    status.textContent = tr("The modules run for another program …");
    context.ask(`${name}/${wanted}`, (answer) => {
      awaited = null;
      status.textContent = answer.kind === "words" ? answer.text : "";
      if (answer.kind !== "passes") return;
      ({ passes, program = 0 } = answer);
      note.textContent = answer.note;
      show(shown);
      follow(); // another one may have been picked meanwhile
    });
  };
  selection.subscribe(follow);
  const node = make(
    "div", { class: "tl-stages" },
    make("div", { class: "tl-title" }, title), headline ? make("div", {}, headline) : "", head, explained,
    ...(context.live && programs.nodes.length ? [make("div", { class: "tl-controls" }, ...programs.nodes, status)] : []),
    make("div", { class: "tl-passes" }, listing, make("div", {}, told, place)),
    note,
    make("div", { class: "tl-note" }, ...trParts("Grey passes changed nothing. {minus} is a line before the pass, {plus} a line after it. Numbers of values are not compared.", {
      minus: wordOf("−", tr("A line before the pass.")), plus: wordOf("+", tr("A line after the pass.")),
    }), headline ? ` ${tr("Each module was run on the launch's inputs: = same result, ≈ equal up to rounding, ≠ different, ? not known.")}` : ""),
  );
  if (passes.length) show(shown);
  const resized = new ResizeObserver(() => list?.update());
  resized.observe(place);
  const draw = () => {
    follow();
    list?.update();
  };
  return { node, draw, stop: () => resized.disconnect() };
}

/** What a pass did, in words. @param {PassScene} one */
function wordsFor({ name, argument, seconds, changed, ops, result }) {
  const grown = ops.slice(0, MOST_GROWN).map(([op, before, after]) => `${op} ${before} → ${after}`);
  const more = ops.length > MOST_GROWN ? [tr("{count} more", { count: ops.length - MOST_GROWN })] : [];
  const what = changed ? [...grown, ...more].join(", ") || tr("order, attributes or operands") : tr("nothing changed");
  return [argument ? `${name} (${argument})` : name, seconds === null ? "" : `${(1000 * seconds).toFixed(1)} ms`, what, result].filter(Boolean).join(" · ");
}

/** @param {PassScene} one */
function diffOf({ name, diff }) {
  const lines = diff.split("\n").map((line) => {
    const sign = line[0] === "-" || line[0] === "+" ? line[0] : "";
    const look = sign === "-" ? "tl-codeless" : sign === "+" ? "tl-codemore" : line.startsWith("@@") ? "tl-codewhere" : "";
    return { number: sign === "-" ? "−" : sign, text: line.startsWith("@@") || line.startsWith("…") ? line : line.slice(1), tint: null, op: "", explained: "", look };
  });
  return new CodeList("ttgir", tr("what {pass} changed", { pass: name }), lines);
}
