/** What is picked in a card, in words, and the keys that change it from anywhere in the card. */

import { make } from "../drawing/dom.js";
import { callProgram } from "../drawing/words.js";
import { tr } from "../localization.js";

/**
 * @param {number[]} grid
 * @param {import("../selection.js").Selection} selection
 */
export function pickedOf(grid, selection) {
  const programs = grid[0] * grid[1] * grid[2];
  const words = make("span", { class: "tl-chosen", "aria-live": "polite" });
  const clear = () => selection.set({ program: null, line: null, iteration: null, pointed: null });
  const free = make("button", { type: "button", class: "tl-link", onclick: clear }, tr("clear"));
  const node = make("div", { class: "tl-picked" }, words, free);
  const update = () => {
    const { program, line, iteration } = selection.get();
    const told = [
      program == null ? "" : callProgram(program, grid),
      iteration == null ? "" : tr("iteration {number}", { number: iteration }),
      line == null ? "" : tr("line {number}", { number: line }),
    ].filter(Boolean);
    words.textContent = told.length ? told.join(" · ") : programs > 1 ? tr("[ and ] pick a program") : "";
    free.hidden = !told.length;
  };
  selection.subscribe(update);

  /** `[` and `]` go through the programs, `{` and `}` through iterations, Escape clears. @param {KeyboardEvent} event */
  const onkeydown = (event) => {
    const { program, iteration } = selection.get();
    /** @param {number | null | undefined} from @param {number} step @param {number} count */
    const moved = (from, step, count) => (from == null ? (step > 0 ? 0 : count - 1) : (from + step + count) % count);
    if (event.target instanceof HTMLInputElement && event.target.type !== "range" && event.target.type !== "radio") return;
    if ((event.key === "[" || event.key === "]") && programs) {
      selection.set({ program: moved(program, event.key === "]" ? 1 : -1, programs) });
    } else if (event.key === "{" || event.key === "}") {
      selection.set({ iteration: Math.max(0, (iteration ?? -1) + (event.key === "}" ? 1 : -1)) });
    } else if (event.key === "Escape") clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  update();
  return { node, onkeydown };
}
