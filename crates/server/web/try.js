// The screen for a new user: two numbers, one operation.

import { OPERATIONS, callsOf } from "./calls.js";
import { STEPS, compute, decrypted } from "./compute.js";
import { explain, h, say } from "./dom.js";
import { bytes } from "./format.js";
import { keysPart } from "./keys.js";
import { api, session } from "./session.js";
import { Steps } from "./steps.js";

export const title = "Try it";
const TYPES = ["u8", "u16", "u32", "u64"];

/** @param {HTMLElement} main @param {AbortSignal} signal */
export function show(main, signal) {
  /** @param {string} id @param {string} label @param {string} value @returns {[HTMLLabelElement, HTMLInputElement]} */
  const number = (id, label, value) => [h("label", { for: id }, label), h("input", { id, value, inputmode: "numeric", pattern: "[0-9]+", required: true, autocomplete: "off" })];
  const [labelA, a] = number("a", "First number", "48");
  const [labelB, b] = number("b", "Second number", "75");
  const type = h("select", { id: "type" }, ...TYPES.map((name) => h("option", { value: name, selected: name === "u16" }, `${name}, ${name.slice(1)} bits`)));
  const operator = h("select", { id: "operator" }, ...OPERATIONS.map(({ name, sign, says }) => h("option", { value: name }, `${sign}  ${says}`)));
  const answer = h("output", { class: "answer", for: "a b operator" }, "?");
  const trouble = h("div");
  const progress = h("div", { class: "card" }, h("h2", {}, "What happens"), new Steps(STEPS).element);
  const elsewhere = h("div");

  const chosen = () => /** @type {typeof OPERATIONS[number]} */ (OPERATIONS.find(({ name }) => name === operator.value));
  const changed = () => {
    answer.textContent = "?";
    for (const field of [a, b]) {
      const fits = /^[0-9]+$/.test(field.value) && BigInt(field.value) < 1n << BigInt(type.value.slice(1));
      field.setCustomValidity(fits ? "" : `Give a whole number of 0 to ${(1n << BigInt(type.value.slice(1))) - 1n}.`);
    }
    const open = Array.from(elsewhere.querySelectorAll("details"), (details) => details.open);
    elsewhere.replaceChildren(callsOf(api.base.origin, type.value, chosen(), a.value, b.value));
    elsewhere.querySelectorAll("details").forEach((details, at) => { details.open = open[at] ?? false; });
  };
  const run = async () => {
    const steps = new Steps(STEPS);
    progress.lastElementChild?.replaceWith(steps.element);
    trouble.replaceChildren();
    fields.disabled = true;
    answer.textContent = "…";
    const [{ name }, kind, inputs] = [chosen(), type.value, [a.value, b.value]];
    try {
      steps.next();
      await session.using(async (client, { keyId, params }) => {
        steps.next(`key ${keyId.slice(0, 10)}, ${params}`);
        const program = await client.program(name, [kind, kind]);
        const files = [];
        for (const value of inputs) files.push(await client.encrypt(kind, value));
        steps.next(files.map((file) => bytes(file.length)).join(" and "));
        const [result] = await compute(keyId, `try: ${name}`, program, files, steps, signal);
        const value = await decrypted(result);
        steps.next(value);
        answer.textContent = value;
        say(`The answer is ${value}.`);
      });
    } catch (error) {
      steps.fail();
      answer.textContent = "?";
      explain(trouble, error);
    } finally {
      fields.disabled = false;
    }
  };
  const fields = h("fieldset", {},
    h("div", { class: "fields" },
      h("div", {}, labelA, a), h("div", {}, h("label", { for: "operator" }, "Operation"), operator), h("div", {}, labelB, b),
      h("div", {}, h("label", { for: "type" }, "Type"), type)),
    h("p", { class: "quiet" }, "Results wrap: a sum, difference or product is taken modulo 2 to the number of bits. Division by 0 gives the largest number."),
    h("p", { class: "equals" }, h("span", { "aria-hidden": "true" }, "= "), answer), h("button", { class: "first" }, "Compute on ciphertexts"));
  const form = h("form", { class: "card sum", oninput: changed, onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); run(); } },
    fields, trouble);
  changed();
  main.append(h("h1", {}, "Compute on numbers that the service cannot read"),
    h("p", { class: "lead" }, "Your browser encrypts two numbers. The service computes on the ciphertexts, without the secret key. Your browser decrypts the answer."),
    form, progress, keysPart(signal), elsewhere);
}
