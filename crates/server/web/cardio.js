// Ten questions about a heart: the service counts the risk factors in encrypted answers. `cardio.json` is the program of `examples/cardio`.

import { answered, computation } from "./compute.js";
import { h } from "./dom.js";
import { keysPart } from "./keys.js";
import { api } from "./session.js";

export const title = "Heart risk";

/** Questions with a choice: the input of the program, the question, and the answers for 0 and 1. */
const CHOICES = [
  { name: "man", label: "Sex", answers: ["woman", "man"], first: 1 },
  { name: "smoker", label: "Do you smoke?", answers: ["no", "yes"], first: 0 },
  { name: "diabetic", label: "Do you have diabetes?", answers: ["no", "yes"], first: 0 },
  { name: "pressure", label: "Do you have high blood pressure?", answers: ["no", "yes"], first: 0 },
];
/** Questions with a number. Below a height of 90, a difference of the program would wrap. */
const NUMBERS = [
  { name: "age", label: "Age in years", low: 0, high: 130, first: 55 },
  { name: "hdl", label: "HDL cholesterol in mg/dl", low: 0, high: 255, first: 50 },
  { name: "height", label: "Height in cm", low: 90, high: 255, first: 178 },
  { name: "weight", label: "Weight in kg", low: 1, high: 255, first: 92 },
  { name: "activity", label: "Minutes of sport a day", low: 0, high: 255, first: 20 },
  { name: "drinks", label: "Glasses of alcohol a day", low: 0, high: 255, first: 2 },
];

/** @param {HTMLElement} main @param {AbortSignal} signal */
export function show(main, signal) {
  /** @type {Map<string, () => [string, string]>} the type and the value of each answer */
  const answers = new Map();
  const answer = h("output", { class: "answer" }, "?");
  const trouble = h("div");
  const field = (/** @type {string} */ label, /** @type {HTMLInputElement | HTMLSelectElement} */ input) => h("div", {}, h("label", { for: input.id }, label), input);
  const questions = [
    ...CHOICES.map(({ name, label, answers: texts, first }) => {
      const select = h("select", { id: name }, ...texts.map((text, value) => h("option", { value, selected: value === first }, text)));
      answers.set(name, () => ["bool", select.value]);
      return field(label, select);
    }),
    ...NUMBERS.map(({ name, label, low, high, first }) => {
      const check = () => {
        const fits = /^[0-9]+$/.test(input.value) && Number(input.value) >= low && Number(input.value) <= high;
        input.setCustomValidity(fits ? "" : `Give a whole number of ${low} to ${high}.`);
      };
      const input = h("input", { id: name, value: first, inputmode: "numeric", required: true, autocomplete: "off", oninput: check });
      answers.set(name, () => ["u8", String(Number(input.value))]);
      return field(label, input);
    }),
  ];
  const fields = h("fieldset", {}, h("div", { class: "fields" }, ...questions),
    h("p", { class: "equals" }, answer, " rules hold"), h("button", { class: "first" }, "Count the risk factors"));
  const { card, run } = computation(fields, answer, trouble);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    run(async (steps) => {
      const program = await api.request("GET", "page/cardio.json", { signal }, (response) => response.text());
      /** @type {{name: string}[]} */
      const inputs = JSON.parse(program).inputs;
      const values = inputs.map(({ name }) => /** @type {() => [string, string]} */ (answers.get(name))());
      return `${await answered("heart risk", values, async () => program, steps, signal)} of 10`;
    });
  };
  main.append(h("h1", {}, "A heart risk that the service cannot read"),
    h("p", { class: "lead" }, "Your browser encrypts ten answers. The service applies ten rules to the ciphertexts, and your browser decrypts the number of rules that hold."),
    h("form", { class: "card sum", oninput: () => { answer.textContent = "?"; }, onsubmit: submit },
      h("h2", {}, "Ten questions"),
      h("p", { class: "quiet" }, "The rules are those of a common benchmark of encrypted computing. They are no medical advice."), fields, trouble),
    card,
    h("section", { class: "card", "aria-labelledby": "rules-title" }, h("h2", { id: "rules-title" }, "The ten rules"),
      h("ul", {}, ...[
        "A man is older than 50.", "A woman is older than 60.", "The person smokes.", "The person has diabetes.", "The person has high blood pressure.",
        "HDL cholesterol is below 40 mg/dl.", "The weight in kg is more than the height in cm minus 90.", "The person does less than 30 minutes of sport a day.",
        "A man drinks more than 3 glasses of alcohol a day.", "A woman drinks more than 2 glasses of alcohol a day.",
      ].map((rule) => h("li", {}, rule)))),
    keysPart(signal));
}
