// One computation: registers the key, sends what the job needs, follows it, and fetches its results.

import { Problem } from "./api.js";
import { explain, h, say } from "./dom.js";
import { bytes, counted, duration } from "./format.js";
import { api, register, session } from "./session.js";
import { progressOf } from "./state.js";
import { Steps } from "./steps.js";
import { upload } from "./upload.js";

/** Steps of every computation. A screen begins with the first two, and ends the last one. */
export const STEPS = ["Keys made here", "Encrypted here", "Sent", "Ran on the service", "Received", "Decrypted here"];

/**
 * @param {string} keyId the key of the inputs
 * @param {string} name the name of the job
 * @param {string} program the text of the program
 * @param {Uint8Array[]} inputs ciphertext files
 * @param {import("./steps.js").Steps} steps the present step is that of sending
 * @param {AbortSignal} signal
 * @returns {Promise<Uint8Array[]>} the results
 */
export async function compute(keyId, name, program, inputs, steps, signal) {
  const client = await session.ready();
  const sending = (/** @type {number} */ sent, /** @type {number} */ all) => steps.progress(`server key, once: ${bytes(sent)} of ${bytes(all)}`, sent / all);
  let sent = await register(keyId, sending, signal) + program.length;
  const { digest } = await api.program(program, signal);
  const blobs = [];
  for (const file of inputs) {
    const blob = await client.digest(file);
    await upload(api, file, blob, () => {}, signal);
    sent += file.length;
    blobs.push({ blob });
  }
  const request = { key: keyId, program: digest, inputs: blobs, name, compact: true };
  let job = await api.submit(request, signal).catch(async (error) => {
    // The service has lost the key meanwhile.
    if (!(error instanceof Problem && error.code === "key_missing")) throw error;
    sent += await register(keyId, sending, signal);
    return api.submit(request, signal);
  });
  steps.next(bytes(sent), ", then ", h("a", { href: `#/jobs/${job.id}` }, "the job"));
  for await (job of api.follow(job.id, signal)) {
    const { done, total } = progressOf(job);
    steps.progress(`${job.state}: ${done} of ${counted(total, "bootstrap")}`, done / Math.max(total, 1));
  }
  if (job.error) throw Object.assign(new Error(job.error.detail), { fix: job.error.fix });
  if (job.state !== "succeeded") throw Object.assign(new Error(`The job is ${job.state}`), { fix: "start it again" });
  steps.next(`${counted(job.cost.bootstraps, "bootstrap")} in ${duration((Date.parse(job.ended ?? "") - Date.parse(job.started ?? "")) / 1e3)}`);
  const results = [];
  for (const index of (job.results ?? []).keys()) results.push(await api.file(`v1/jobs/${job.id}/results/${index}`, signal));
  steps.next(results.map((file) => bytes(file.length)).join(" and "));
  return results;
}

/**
 * The value of a ciphertext.
 * @param {Uint8Array} file
 */
export async function decrypted(file) {
  const { values } = await (await session.ready()).decrypt(file);
  return values.join(", ");
}

/**
 * Encrypts values here, runs a program on them, and decrypts its only result here.
 * @param {string} name the name of the job
 * @param {[string, string][]} values the type and the value of each input
 * @param {(client: import("./client.js").Client) => Promise<string>} program gives the text of the program
 * @param {Steps} steps before their first one
 * @param {AbortSignal} signal
 */
export async function answered(name, values, program, steps, signal) {
  steps.next();
  return session.using(async (client, { keyId, params }) => {
    steps.next(`key ${keyId.slice(0, 10)}, ${params}`);
    const text = await program(client);
    const files = [];
    for (const [type, value] of values) files.push(await client.encrypt(type, value));
    steps.next(`${counted(files.length, "ciphertext")}, ${bytes(files.reduce((all, file) => all + file.length, 0))}`);
    const [result] = await compute(keyId, name, text, files, steps, signal);
    const value = await decrypted(result);
    steps.next(value);
    return value;
  });
}

/**
 * The card with the steps of a computation, and a function that runs one. The fields rest meanwhile.
 * @param {HTMLFieldSetElement} fields @param {HTMLOutputElement} answer @param {HTMLElement} trouble
 */
export function computation(fields, answer, trouble) {
  const card = h("div", { class: "card" }, h("h2", {}, "What happens"), new Steps(STEPS).element);
  /** @param {(steps: Steps) => Promise<string>} work gives the text of the answer */
  const run = async (work) => {
    const steps = new Steps(STEPS);
    card.lastElementChild?.replaceWith(steps.element);
    trouble.replaceChildren();
    fields.disabled = true;
    answer.textContent = "…";
    try {
      answer.textContent = await work(steps);
      say(`The answer is ${answer.textContent}.`);
    } catch (error) {
      steps.fail();
      answer.textContent = "?";
      explain(trouble, error);
    } finally {
      fields.disabled = false;
    }
  };
  return { card, run };
}
