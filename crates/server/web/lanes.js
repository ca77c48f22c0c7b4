// The picture of the workers of a job: a lane for each, with the periods in which it had the job.

import { h, s } from "./dom.js";
import { counted, duration, moment } from "./format.js";

/** @typedef {import("./api.js").Period} Period */

/** The most lanes. Workers before them are in the table. */
const LANES = 12;
/** The most periods that the text of a lane lists. */
const LISTED = 5;
/** Width of a lane, and the smallest width of a period. */
const [WIDTH, LEAST] = [1000, 8];

/** How a worker left a job. */
const STATES = {
  running: "computes", paused: "paused", succeeded: "ended the job", failed: "the job failed",
  retried: "failed for a cause that may pass, so the job is tried again", audited: "gave results, which another run checks",
  lost: "lost", cancelled: "the job was cancelled",
};

/** The kind of a period in the picture. A lost worker counts more than a run that was repeated. @param {Period} period */
const kind = ({ state, run }) => state === "lost" ? "lost" : run > 1 ? "again" : "held";

/** @param {string} worker */
const named = (worker) => worker === "service" ? "The service" : worker.replace(/^w/, "W");

/** The figure of the workers, and a function that shows those of another schedule in it. */
export function lanes() {
  const [list, caption, table] = [h("ul", { class: "lanes" }), h("figcaption"), h("tbody")];
  /** @param {import("./api.js").Schedule} schedule */
  const update = ({ periods, now, periods_left_out: leftOut }) => {
    const start = Date.parse(periods[0]?.begin ?? now);
    // The clock of the service may have been set back.
    const times = (/** @type {Period} */ { begin, end }) => [begin, end ?? now].map((time) => Math.max(Date.parse(time), Date.parse(begin)) - start);
    const length = Math.max(1, ...periods.map((period) => times(period)[1]));
    const texts = periods.map((period) => {
      const [from, to] = times(period).map((ms) => duration(ms / 1e3));
      return { from, to: period.end ? to : "now", state: STATES[period.state], pauses: period.pauses ? `, after ${counted(period.pauses, "pause")}` : "", run: period.run > 1 ? ` in run ${period.run}` : "" };
    });
    const workers = [...new Set(periods.map(({ worker }) => worker))];
    list.replaceChildren(...workers.slice(-LANES).map((worker) => {
      const own = periods.flatMap((period, at) => period.worker === worker ? [{ period, text: texts[at] }] : []);
      const listed = own.slice(-LISTED).map(({ text: { from, to, run, state, pauses } }) => `from ${from} to ${to}${run}: ${state}${pauses}`);
      const label = `${named(worker)}: ${counted(own.length, "period")}; ${own.length > LISTED ? "the last ones " : ""}${listed.join("; ")}.`;
      return h("li", {}, h("span", { "aria-hidden": "true" }, named(worker)), s("svg", { viewBox: `0 0 ${WIDTH} 10`, preserveAspectRatio: "none", role: "img", "aria-label": label }, ...own.map(({ period }) => {
        const [from, to] = times(period).map((ms) => ms / length * (WIDTH - LEAST));
        const tall = kind(period) === "held" ? 10 : 6;
        return s("rect", { class: kind(period), x: from, width: to - from + LEAST, y: 10 - tall, height: tall });
      })));
    }));
    const count = (/** @type {string} */ name) => periods.filter((period) => kind(period) === name).length;
    caption.textContent = !periods.length ? "No worker has begun the job." :
      `${counted(periods.length, "period")} of ${counted(workers.length, "worker")} in ${duration(length / 1e3)}, since ${moment(periods[0].begin)}. ` +
      `${counted(count("lost"), "lost period")} and ${counted(count("again"), "repeated period")}.` +
      (workers.length > LANES ? ` The last ${LANES} workers are drawn.` : "") + (leftOut ? ` ${counted(leftOut, "earlier period")} ${leftOut === 1 ? "is" : "are"} not kept.` : "");
    table.replaceChildren(...periods.map((period, at) => h("tr", {}, h("th", { scope: "row" }, named(period.worker)),
      ...[texts[at].from, texts[at].to, period.run, period.pauses, texts[at].state].map((cell) => h("td", {}, cell)))));
  };
  const details = h("details", {}, h("summary", {}, "The workers as a table"),
    h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table of workers" },
      h("table", {}, h("thead", {}, h("tr", {}, ...["Worker", "From", "To", "Run", "Pauses", "End"].map((name) => h("th", { scope: "col" }, name)))), table)));
  const legend = h("ul", { class: "legend" }, h("li", { class: "done" }, "a worker has the job"), h("li", { class: "lost" }, "the worker was lost"), h("li", { class: "again" }, "a repeated run, whose results are compared"));
  return { element: h("figure", {}, list, legend, caption, details), update };
}
