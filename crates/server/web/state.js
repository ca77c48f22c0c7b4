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
 * A button whose act begins after 5 seconds, unless it is pressed again. A screen that is left begins it at once.
 * @param {{verb: string, noun: string, object: string, during: string, after: string, act: () => Promise<unknown>}} words
 * @param {AbortSignal} signal @param {Element} trouble
 */
function undoable({ verb, noun, object, during, after, act }, signal, trouble) {
  let timer = 0;
  /** @param {string} text @param {string} label */
  const name = (text, label) => {
    button.textContent = text;
    button.setAttribute("aria-label", label);
  };
  const begin = async () => {
    timer = 0;
    button.disabled = true;
    name(during, `${during} ${object}`);
    try {
      await act();
      name(after, `${after}: ${object}`);
    } catch (error) {
      button.disabled = false;
      name(verb, `${verb} ${object}`);
      explain(trouble, error);
    }
  };
  const button = h("button", {
    type: "button", class: "small",
    onclick: () => {
      const undoes = timer !== 0;
      clearTimeout(timer);
      // The button of a job that ended meanwhile is gone.
      timer = undoes ? 0 : setTimeout(() => button.isConnected && begin(), UNDO);
      if (undoes) name(verb, `${verb} ${object}`);
      else name("Undo (5 s)", `Undo (5 s): ${noun} of ${object}`);
      say(undoes ? "Nothing is changed." : `The ${noun} begins in 5 seconds. Press again to undo.`);
    },
  });
  name(verb, `${verb} ${object}`);
  signal.addEventListener("abort", () => {
    if (!timer) return;
    clearTimeout(timer);
    begin();
  });
  return button;
}

/** @param {Job} job @param {AbortSignal} signal @param {Element} trouble */
export function cancelButton(job, signal, trouble) {
  const words = { verb: "Cancel", noun: "cancellation", object: job.name ?? job.id, during: "Cancelling…", after: "Cancelled" };
  return undoable({ ...words, act: () => api.cancel(job.id) }, signal, trouble);
}

/** @param {Job} job @param {AbortSignal} signal @param {Element} trouble @param {() => void} then */
export function removeButton(job, signal, trouble, then) {
  const words = { verb: "Remove", noun: "removal", object: `${job.name ?? job.id} and its results`, during: "Removing…", after: "Removed" };
  return undoable({ ...words, act: () => api.send("DELETE", `v1/jobs/${job.id}`).then(then) }, signal, trouble);
}
