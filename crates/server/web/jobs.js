// The list of jobs.

import { Problem, sleep } from "./api.js";
import { explain, h } from "./dom.js";
import { counted, duration, moment } from "./format.js";
import { api } from "./session.js";
import { STATES, badge, cancelButton, isLive, progressOf, timeLeft } from "./state.js";

export const title = "Jobs";
/** @typedef {import("./api.js").Job} Job */

/** The most jobs that are shown. */
const MOST = 1000;
/** Milliseconds between two looks for new jobs. */
const LOOK = 3000;

/** @param {HTMLElement} main @param {AbortSignal} signal */
export function show(main, signal) {
  /** @type {Map<string, {row: HTMLTableRowElement, cells: HTMLElement[], told: string, job: Job}>} */
  const rows = new Map();
  const body = h("tbody");
  const [queue, empty, missed, trouble] = [h("p", { class: "quiet" }, "The queue is being read…"), h("p", { class: "quiet", hidden: true }), h("div"), h("div")];
  const text = h("input", { id: "text", type: "search", autocomplete: "off", oninput: () => filter() });
  const state = h("select", { id: "state", onchange: () => filter() }, h("option", { value: "" }, "all states"), ...STATES.map((name) => h("option", {}, name)));
  let isFollowing = false;

  const filter = () => {
    let shown = 0;
    for (const { row, job } of rows.values()) {
      const wanted = text.value.toLowerCase();
      const fits = (!state.value || job.state === state.value) && `${job.name ?? ""} ${job.id}`.toLowerCase().includes(wanted);
      row.hidden = !fits;
      shown += Number(fits);
    }
    empty.hidden = shown > 0;
    empty.textContent = rows.size ? "No job fits the filters." : "There are no jobs yet. “Try it” makes one.";
  };

  /** @param {Job} job */
  const update = (job) => {
    let entry = rows.get(job.id);
    if (!entry) {
      const cells = Array.from({ length: 4 }, (_, at) => h("td", { class: ["", "", "late", "late"][at] }));
      const name = h("th", { scope: "row" }, h("a", { href: `#/jobs/${job.id}` }, job.name ?? "without a name"), h("small", {}, job.id));
      const action = h("td", {}, isLive(job) && cancelButton(job, signal, trouble));
      entry = { row: h("tr", {}, name, ...cells, action), cells: [...cells, action], told: "", job };
      rows.set(job.id, entry);
    }
    entry.job = job;
    const { done, total } = progressOf(job);
    const told = `${job.state} ${done} ${total} ${timeLeft(job)}`;
    if (entry.told === told) return entry.row;
    const [where, bar, cost, created, action] = entry.cells;
    if (!entry.told.startsWith(job.state)) where.replaceChildren(badge(job));
    entry.told = told;
    if (isLive(job)) bar.replaceChildren(h("progress", { max: Math.max(total, 1), value: done, "aria-label": `Progress of ${job.name ?? job.id}` }), h("small", {}, `${done} of ${total} ${timeLeft(job)}`));
    else bar.replaceChildren(counted(done, "bootstrap"));
    cost.textContent = isLive(job) ? `about ${duration(job.cost.core_seconds)}` : duration(job.core_seconds);
    created.textContent = moment(job.created);
    if (!isLive(job)) {
      // The focus stays in the row when its button goes.
      if (action.contains(document.activeElement)) entry.row.querySelector("a")?.focus();
      action.replaceChildren();
    }
    return entry.row;
  };

  /** Follows one job that runs: all tabs of a browser together have six connections to a service. @param {string} id */
  const follow = async (id) => {
    isFollowing = true;
    try {
      for await (const job of api.follow(id, signal)) update(job);
    } catch (error) {
      // A job that was removed is no longer in the list either.
      if (!(error instanceof Problem && error.code === "not_found")) explain(trouble, error);
    } finally {
      isFollowing = false;
    }
  };
  const look = async () => {
    const [{ jobs }, usage] = await Promise.all([api.get(`v1/jobs?limit=${MOST}`, signal), api.get("v1/usage", signal)]);
    const known = new Set(jobs.map((/** @type {Job} */ job) => job.id));
    for (const [id, { row }] of rows) if (!known.has(id)) { row.remove(); rows.delete(id); }
    // The newest job is the first row.
    for (const job of jobs.toReversed()) {
      const isNew = !rows.has(job.id);
      const row = update(job);
      if (isNew) body.prepend(row);
    }
    const running = jobs.findLast((/** @type {Job} */ { state }) => state === "running");
    if (running && !isFollowing) follow(running.id);
    queue.textContent = usage.live_jobs
      ? `${counted(usage.live_jobs, "job")} ${usage.live_jobs === 1 ? "has" : "have"} not ended: about ${duration(usage.queued_core_seconds)} of processor time.`
      : "No job waits or runs.";
    filter();
  };
  const watch = async () => {
    for (;;) {
      // A look that fails is not the last one.
      if (!document.hidden) await look().then(() => missed.replaceChildren(), (error) => missed.hasChildNodes() || explain(missed, error));
      await sleep(LOOK, signal);
    }
  };
  main.append(h("h1", {}, "Jobs"), queue,
    h("div", { class: "row filters", role: "search" }, h("span", {}, h("label", { for: "text" }, "Name"), text), h("span", {}, h("label", { for: "state" }, "State"), state)),
    missed, trouble,
    h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table of jobs" }, h("table", { class: "jobs" },
      h("thead", {}, h("tr", {}, ...["Job", "State", "Progress", "Processor time", "Created"].map((name, at) => h("th", { scope: "col", class: at > 2 ? "late" : "" }, name)), h("td"))), body)),
    empty);
  watch().catch((error) => explain(trouble, error));
}
