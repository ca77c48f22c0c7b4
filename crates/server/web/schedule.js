// The picture of a schedule: a skyline of bootstraps, and under it the time of each wave.

import { h, s } from "./dom.js";
import { counted, duration } from "./format.js";

/** @typedef {import("./api.js").Wave} Wave */

/** The most bars. More waves are put together. */
const BARS = 160;
/** The most rows of the table. */
const ROWS = 1000;
/** Heights of the skyline and of the times, in units of the picture. */
const [UP, GAP, DOWN] = [64, 4, 32];

/** The length of a bar, of 1 at most. The square root lets small waves be seen beside large ones. @param {number} value @param {number} most */
const share = (value, most) => Math.sqrt(value / Math.max(most, 1e-9));

/**
 * The bars of a skyline: an outline of each height, filled as far as it is done.
 * @param {{height: number, done: number}[]} bars @param {number} highest
 */
export function skyline(bars, highest) {
  return bars.flatMap(({ height, done }, at) => {
    const bar = (/** @type {number} */ value, /** @type {string} */ name) => {
      const tall = UP * share(value, highest);
      return s("rect", { class: name, x: at + 0.08, width: 0.84, y: UP - tall, height: tall });
    };
    return [bar(height, "expected"), bar(Math.min(done, height), "done")];
  });
}

/**
 * A picture that keeps its height, with its text alternative.
 * @param {string} label @param {number} width @param {number} height @param {SVGElement[]} shapes
 */
export function picture(label, width, height, shapes) {
  return s("svg", { class: "schedule", viewBox: `0 0 ${Math.max(width, 1)} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label }, ...shapes);
}

/** @param {Wave[]} waves */
function grouped(waves) {
  const together = Math.max(1, Math.ceil(waves.length / BARS));
  /** @type {Wave[]} */
  const groups = [];
  for (let at = 0; at < waves.length; at += together) {
    groups.push(waves.slice(at, at + together).reduce((all, wave) => ({
      ...all, bootstraps: all.bootstraps + wave.bootstraps, done: all.done + wave.done, estimated_ms: all.estimated_ms + wave.estimated_ms,
      measured_ms: all.measured_ms === null || wave.measured_ms === null ? null : all.measured_ms + wave.measured_ms,
    })));
  }
  return groups;
}

/**
 * Waves with the bootstraps of the one that runs. The service counts those of whole waves. The first ones that are not done are those that run, most of the time.
 * @param {Wave[]} waves @param {number} done bootstraps of the job that are done
 */
function filled(waves, done) {
  let rest = done - waves.reduce((all, wave) => all + wave.done, 0);
  return waves.map((wave) => {
    const more = Math.max(0, Math.min(rest, wave.bootstraps - wave.done));
    rest -= more;
    return { ...wave, done: wave.done + more };
  });
}

/** The figure of a schedule, and a function that shows other waves in it. */
export function schedule() {
  const [place, caption, table] = [h("div"), h("figcaption"), h("tbody")];
  /** @type {Wave[]} */
  let present = [];
  const details = h("details", { ontoggle: () => fillTable() }, h("summary", {}, "The waves as a table"),
    h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table of waves" },
      h("table", {}, h("thead", {}, h("tr", {}, ...["Wave", "Bootstraps", "Done", "Expected", "Measured"].map((name) => h("th", { scope: "col" }, name)))), table)));
  const fillTable = () => {
    if (!details.open) return;
    table.replaceChildren(...present.slice(0, ROWS).map((wave, at) => h("tr", {}, h("th", { scope: "row" }, at + 1), h("td", {}, wave.bootstraps), h("td", {}, wave.done),
      h("td", {}, duration(wave.estimated_ms / 1e3)), h("td", {}, wave.measured_ms === null ? "not yet" : duration(wave.measured_ms / 1e3)))));
    if (present.length > ROWS) table.append(h("tr", {}, h("th", { scope: "row", colspan: 5 }, `and ${counted(present.length - ROWS, "more wave")}`)));
  };
  /** @param {Wave[]} known @param {number} done bootstraps of the job that are done */
  const update = (known, done) => {
    const waves = filled(known, done);
    present = waves;
    const groups = grouped(waves);
    const sum = (/** @type {(wave: Wave) => number} */ of) => waves.reduce((all, wave) => all + of(wave), 0);
    const highest = Math.max(1, ...groups.map((wave) => wave.bootstraps));
    const longest = Math.max(0, ...groups.map((wave) => Math.max(wave.estimated_ms, wave.measured_ms ?? 0)));
    const times = groups.flatMap((wave, at) => {
      const bar = (/** @type {number} */ ms, /** @type {string} */ name, /** @type {number} */ inset) =>
        s("rect", { class: name, x: at + inset, width: 1 - 2 * inset, y: UP + GAP, height: DOWN * share(ms, longest) });
      return [bar(wave.estimated_ms, "expected", 0.08), wave.measured_ms !== null && bar(wave.measured_ms, "measured", 0.3)].filter((shape) => shape !== false);
    });
    const ended = waves.filter((wave) => wave.measured_ms !== null);
    const label = `${ended.length} of ${counted(waves.length, "wave")} and ${sum((wave) => wave.done)} of ${counted(sum((wave) => wave.bootstraps), "bootstrap")} are done. ` +
      `The waves that have ended took ${duration(sum((wave) => wave.measured_ms ?? 0) / 1e3)}, and ${duration(ended.reduce((all, wave) => all + wave.estimated_ms, 0) / 1e3)} were expected.`;
    place.replaceChildren(picture(label, groups.length, UP + GAP + DOWN, [...skyline(groups.map((wave) => ({ height: wave.bootstraps, done: wave.done })), highest), ...times]));
    caption.textContent = `${label} The highest bar has ${counted(highest, "bootstrap")}, and the longest time is ${duration(longest / 1e3)}. Lengths are square roots, so that small waves can be seen.`;
    fillTable();
  };
  const legend = h("ul", { class: "legend" }, h("li", { class: "expected" }, "planned bootstraps, and their expected time below"),
    h("li", { class: "done" }, "bootstraps that are done"), h("li", { class: "measured" }, "measured time"));
  return { element: h("figure", {}, place, legend, caption, details), update };
}
