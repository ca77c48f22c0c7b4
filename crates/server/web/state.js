// States of jobs, and what can be done with one.

import { explain, h, say } from "./dom.js";
import { duration } from "./format.js";
import { api } from "./session.js";

/** @typedef {import("./api.js").Job} Job */

/** A sign for each state, so that colour is never alone. */
const SIGNS = { queued: "○", running: "◐", succeeded: "●", failed: "✕", cancelled: "⊘", expired: "◌" };
export const STATES = /** @type {import("./api.js").State[]} */ (Object.keys(SIGNS));
/** Milliseconds in which a cancellation can be undone. */
const UNDO = 5000;

/** @param {Job} job */
export const isLive = (job) => job.state === "queued" || job.state === "running";

/** @param {Job} job */
export function badge(job) {
  return h("span", { class: `state ${job.state}` }, h("span", { "aria-hidden": "true" }, `${SIGNS[job.state]} `), job.state);
}

/**
 * Bootstraps that are done, and all of them. A job that has not begun has its expected number.
 * @param {Job} job
 */
export function progressOf({ progress: { done, total }, cost }) {
  return { done, total: Math.max(total, done, cost.bootstraps) };
}

/**
 * The time until a job ends, from its own speed.
 * @param {Job} job
 */
export function timeLeft({ state, started, progress: { done, total } }) {
  if (state !== "running" || !started || !done) return "";
  return `about ${duration((Date.now() - Date.parse(started)) / 1e3 * (total - done) / done)} left`;
}

/**
 * A button that cancels a job after 5 seconds, unless it is pressed again. A screen that is left cancels at once.
 * @param {Job} job @param {AbortSignal} signal @param {Element} trouble
 */
export function cancelButton(job, signal, trouble) {
  const name = job.name ?? job.id;
  let timer = 0;
  const act = () => {
    timer = 0;
    button.disabled = true;
    button.textContent = "Cancelled";
    api.cancel(job.id).catch((error) => explain(trouble, error));
  };
  const button = h("button", {
    type: "button", class: "small", "aria-label": `Cancel ${name}`,
    onclick: () => {
      const undoes = timer !== 0;
      clearTimeout(timer);
      timer = undoes ? 0 : setTimeout(act, UNDO);
      button.textContent = undoes ? "Cancel" : "Undo (5 s)";
      button.setAttribute("aria-label", undoes ? `Cancel ${name}` : `Undo (5 s): cancellation of ${name}`);
      say(undoes ? "The job goes on." : "The job is cancelled in 5 seconds. Press again to undo.");
    },
  }, "Cancel");
  signal.addEventListener("abort", () => {
    if (timer) { clearTimeout(timer); act(); }
  });
  return button;
}
