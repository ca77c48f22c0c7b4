// A list of steps, which are all there from the start, so that nothing moves when one ends.

import { h, say, sentence } from "./dom.js";

/** Steps of a computation, with the detail and the progress of each. */
export class Steps {
  /** @type {HTMLLIElement[]} */
  #items;
  #at = -1;

  /** @param {string[]} names */
  constructor(names) {
    this.#items = names.map((name) => h("li", { "data-state": "waiting" },
      h("span", { class: "name" }, name), h("span", { class: "detail" }, "waits"),
      h("progress", { "aria-label": name, max: 1, value: 0, hidden: true })));
    this.element = h("ol", { class: "steps" }, ...this.#items);
  }

  /** @param {number} at @param {string} state @param {string} detail @param {number | null} [part] @param {(Node | string)[]} more */
  #set(at, state, detail, part = null, ...more) {
    const item = this.#items[at];
    const [, text, bar] = /** @type {[Element, Element, HTMLProgressElement]} */ (/** @type {unknown} */ ([...item.children]));
    item.dataset.state = state;
    text.replaceChildren(detail, ...more);
    bar.hidden = part === null;
    if (part !== null) bar.value = part;
  }

  /** @param {string} detail the end of the present step, if there is one @param {(Node | string)[]} more */
  next(detail = "", ...more) {
    if (this.#at >= 0) {
      this.#set(this.#at, "done", detail, null, ...more);
      say(`${this.#items[this.#at].firstChild?.textContent}: ${sentence(detail)}`);
    }
    this.#at += 1;
    if (this.#at < this.#items.length) this.#set(this.#at, "busy", "works…");
  }

  /** @param {string} detail @param {number} part from 0 to 1 */
  progress(detail, part) {
    this.#set(this.#at, "busy", detail, part);
  }

  fail() {
    if (this.#at >= 0 && this.#at < this.#items.length) this.#set(this.#at, "failed", "failed");
  }
}
