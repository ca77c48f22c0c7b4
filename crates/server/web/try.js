// The screen for a new user: two numbers, one operation.

import { OPERATIONS, callsOf } from "./calls.js";
import { answered, computation } from "./compute.js";
import { h } from "./dom.js";
import { keysPart } from "./keys.js";
import { api } from "./session.js";

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
  const fields = h("fieldset", {},
    h("div", { class: "fields" },
      h("div", {}, labelA, a), h("div", {}, h("label", { for: "operator" }, "Operation"), operator), h("div", {}, labelB, b),
      h("div", {}, h("label", { for: "type" }, "Type"), type)),
    h("p", { class: "quiet" }, "Results wrap: a sum, difference or product is taken modulo 2 to the number of bits. Division by 0 gives the largest number."),
    h("p", { class: "equals" }, h("span", { "aria-hidden": "true" }, "= "), answer), h("button", { class: "first" }, "Compute on ciphertexts"));
  const { card, run } = computation(fields, answer, trouble);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const [{ name }, kind] = [chosen(), type.value];
    run((steps) => answered(`try: ${name}`, [[kind, a.value], [kind, b.value]], (client) => client.program(name, [kind, kind]), steps, signal));
  };
  const form = h("form", { class: "card sum", oninput: changed, onsubmit: submit }, fields, trouble);
  changed();
  main.append(h("h1", {}, "Compute on numbers that the service cannot read"),
    h("p", { class: "lead" }, "Your browser encrypts two numbers. The service computes on the ciphertexts, without the secret key. Your browser decrypts the answer."),
    form, card, h("p", {}, "A larger program: ", h("a", { href: "#/cardio" }, "a heart risk from ten answers"), "."), keysPart(signal), elsewhere);
}
