// One job: its progress, its schedule, its workers, its results.

import { calls } from "./calls.js";
import { decrypted } from "./compute.js";
import { download, explain, h } from "./dom.js";
import { bytes, counted, duration, moment, short } from "./format.js";
import { lanes } from "./lanes.js";
import { schedule } from "./schedule.js";
import { api, session } from "./session.js";
import { badge, cancelButton, isLive, progressOf, removeButton, timeLeft } from "./state.js";

export const title = "Job";
/** @typedef {import("./api.js").Job} Job */

/** Milliseconds between two looks at the schedule. */
const LOOK = 500;

/** @param {HTMLElement} main @param {AbortSignal} signal @param {string} id */
export function show(main, signal, id) {
  const [name, state, actions, facts, failed, results, trouble] = [h("h1", {}, "Job"), h("p", { class: "row" }), h("div", { class: "row" }), h("dl", { class: "facts" }), h("div"), h("div"), h("div")];
  const bar = h("progress", { "aria-label": "Progress", max: 1, value: 0 });
  const [drawn, worked] = [schedule(), lanes()];
  let [looked, version, shown] = [0, 0, ""];
  /** @type {boolean | null} */
  let wasLive = null;
  /** @type {import("./api.js").Wave[]} */
  let waves = [];
  const look = async () => {
    looked = Date.now();
    /** @type {import("./api.js").Schedule} */
    const found = await api.get(`v1/jobs/${id}/schedule`, signal);
    waves = found.waves;
    worked.update(found);
  };

  /** @param {Job} job */
  const update = (job) => {
    const { done, total } = progressOf(job);
    bar.max = Math.max(total, 1);
    bar.value = done;
    state.replaceChildren(badge(job), h("span", {}, `${done} of ${counted(total, "bootstrap")} ${timeLeft(job)}`));
    const took = job.started && job.ended ? duration((Date.parse(job.ended) - Date.parse(job.started)) / 1e3) : "not yet";
    const all = {
      "Expected work": `${counted(job.cost.bootstraps, "bootstrap")}, depth ${job.cost.depth}, ${duration(job.cost.core_seconds)} of processor time`,
      "Actual": job.core_seconds ? `${duration(job.core_seconds)} of processor time; from start to end: ${took}` : "not yet known",
      "Created": moment(job.created), "Attempts": job.attempts, "Priority": job.priority,
      "Key": short(job.key), "Program": short(job.program),
      ...job.audit ? { "Audit": `${counted(job.audit.runs, "run")}; ${job.audit.divergent ? "the results were different" : "all results so far are equal"}` } : {},
      "Kept until": job.expires ? moment(job.expires) : "unknown until its end",
    };
    facts.replaceChildren(...Object.entries(all).map(([term, text]) => h("div", {}, h("dt", {}, term), h("dd", {}, text))));
    if (isLive(job) !== wasLive) {
      wasLive = isLive(job);
      actions.replaceChildren(wasLive ? cancelButton(job, signal, trouble) : removeButton(job, signal, trouble, () => {
        if (!signal.aborted) location.hash = "#/jobs";
      }));
    }
    if (job.state === shown) return;
    shown = job.state;
    name.textContent = job.name ?? "Job without a name";
    document.title = `${name.textContent} · Solinas`;
    if (job.error) explain(failed, Object.assign(new Error(job.error.detail), { fix: job.error.fix }));
    if (job.state === "succeeded") results.replaceChildren(...(job.results ?? []).map((result, index) => shownResult(job, result, index)));
    else if (!isLive(job)) results.replaceChildren(h("p", { class: "quiet" }, `The job is ${job.state}, so it has no results.`));
  };

  /** @param {Job} job @param {import("./api.js").Result} result @param {number} index */
  const shownResult = (job, result, index) => {
    const value = h("output", {});
    const fetched = () => api.file(`v1/jobs/${id}/results/${index}`, signal);
    const label = result.name ?? `result ${index}`;
    const reads = h("button", { type: "button", "aria-label": `Decrypt here: ${label}`, onclick: () => fetched().then(decrypted).then((text) => { value.textContent = text; }).catch((error) => explain(trouble, error)) }, "Decrypt here");
    const update = () => { reads.hidden = session.keys?.keyId !== job.key; };
    session.addEventListener("change", update, { signal });
    update();
    return h("div", { class: "result" },
      h("p", {}, h("strong", {}, label), ` ${result.type}${result.shape ? ` array of ${result.shape.join(" × ")}` : ""}, ${bytes(result.bytes)} `, h("code", { class: "bytes" }, result.digest)),
      h("div", { class: "row" }, h("button", { type: "button", "aria-label": `Download ${label}`, onclick: () => fetched().then((file) => download(file, `${label}.ct`)).catch((error) => explain(trouble, error)) }, "Download"), reads, value));
  };

  const follow = async () => {
    trouble.replaceChildren();
    try {
      for await (const job of api.follow(id, signal)) {
        update(job);
        // Each lease of a worker and each of its ends changes the version.
        if (Date.now() - looked > LOOK || job.version !== version) await look();
        version = job.version;
        drawn.update(waves, job.progress.done);
      }
    } catch (error) {
      explain(trouble, error);
      trouble.append(h("button", { type: "button", onclick: follow }, "Try again"));
    }
  };
  results.append(h("p", { class: "quiet" }, "The results are listed here when the job has succeeded."));
  const server = api.base.origin;
  main.append(name, state, bar, actions, trouble, failed,
    h("section", { class: "card", "aria-labelledby": "schedule-title" }, h("h2", { id: "schedule-title" }, "Schedule"),
      h("p", { class: "quiet" }, "A bootstrap is the service's basic operation: it looks up a table on encrypted data and resets the noise. A wave is a set of bootstraps that need the results of earlier waves only. Each bar is a wave, from left to right."), drawn.element),
    h("section", { class: "card", "aria-labelledby": "workers-title" }, h("h2", { id: "workers-title" }, "Workers"),
      h("p", { class: "quiet" }, "One worker at a time has the job: the service itself, or another machine. It pauses when another tenant gets its turn. After a worker that was lost, the next one goes on from the last kept progress. Time goes from left to right."), worked.element),
    h("section", { class: "card", "aria-labelledby": "facts-title" }, h("h2", { id: "facts-title" }, "Estimate and actual"), facts),
    h("section", { class: "card", "aria-labelledby": "results-title" }, h("h2", { id: "results-title" }, "Results"), results),
    calls({
      "Command line": `export SOLINAS_SERVER=${server} SOLINAS_TOKEN=slk_...\nsolinas remote watch ${id}\nsolinas remote result ${id} -o results/`,
      "Python": `import solinas as sl\n\nservice = sl.connect("${server}", token="slk_...")\nresults = service.job("${id}").result()`,
      "curl": `export SERVER=${server} AUTH="Authorization: Bearer slk_..."\ncurl -H "$AUTH" -N $SERVER/v1/jobs/${id}/events\ncurl -H "$AUTH" $SERVER/v1/jobs/${id}/results/0 -o result.ct`,
    }));
  drawn.update([], 0);
  session.start();
  follow();
}
