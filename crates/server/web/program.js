// A program or circuit: its cost under each parameter set, and its drawing. Nothing is run.

import { Problem } from "./api.js";
import { explain, h, s } from "./dom.js";
import { counted } from "./format.js";
import { picture, skyline } from "./schedule.js";
import { api } from "./session.js";

export const title = "Program";
/** Parameter sets under which costs are counted. */
const SETS = ["integers-128", "gates-128", "bits128-32768-32"];
/** The distance between two columns and two rows of a drawing, in pixels. */
const [COLUMN, ROW] = [104, 40];
const EXAMPLE = JSON.stringify({
  format: "solinas-program", version: 2, name: "distance",
  inputs: [{ name: "a", type: "u8", shape: null }, { name: "b", type: "u8", shape: null }],
  nodes: [
    { op: { input: 0 }, args: [], type: "u8" }, { op: { input: 1 }, args: [], type: "u8" },
    { op: "max", args: [0, 1], type: "u8" }, { op: "min", args: [0, 1], type: "u8" }, { op: "sub", args: [2, 3], type: "u8" },
  ],
  outputs: [{ name: "result", value: 4 }], result: "u8", functions: [],
}, null, 1);

/** @param {string} text @param {AbortSignal} signal @returns {Promise<import("./graph.js").Drawing | null>} */
function layersOf(text, signal) {
  const worker = new Worker(new URL("graph.js", import.meta.url), { type: "module" });
  signal.addEventListener("abort", () => worker.terminate());
  return new Promise((resolve) => {
    worker.onmessage = ({ data }) => { worker.terminate(); resolve(data); };
    worker.onerror = () => resolve(null);
    worker.postMessage(text);
  });
}

/** @param {import("./graph.js").Drawing} drawing */
function drawn({ layers, nodes, count }) {
  const widest = layers.reduce((most, layer) => Math.max(most, layer), 0);
  const label = `${counted(count, "node")} in ${counted(layers.length, "layer")}. The widest layer has ${widest}.`;
  if (!nodes.length) {
    // Neighbouring layers share a bar if there are many.
    const together = Math.ceil(layers.length / 400);
    const bars = Array.from({ length: Math.ceil(layers.length / together) }, (_, at) => Math.max(...layers.slice(at * together, (at + 1) * together)));
    return h("figure", {}, picture(label, bars.length, 64, skyline(bars.map((height) => ({ height, done: height })), widest)), h("figcaption", {}, label));
  }
  const rows = layers.map(() => 0);
  const places = nodes.map(({ layer }) => ({ x: 40 + COLUMN * layer, y: 24 + ROW * rows[layer]++ }));
  const edges = nodes.flatMap(({ args }, at) => args.map((arg) => {
    const [from, to] = [places[arg], places[at]];
    return s("path", { class: "edge", d: `M${from.x} ${from.y}C${from.x + COLUMN / 2} ${from.y} ${to.x - COLUMN / 2} ${to.y} ${to.x} ${to.y}` });
  }));
  const dots = nodes.map(({ op }, at) => s("g", { transform: `translate(${places[at].x} ${places[at].y})` },
    s("rect", { class: "node", x: -34, y: -13, width: 68, height: 26, rx: 13 }), s("text", { "text-anchor": "middle", y: 4 }, op.slice(0, 9))));
  const [width, height] = [COLUMN * layers.length + 8, ROW * Math.max(...rows) + 8];
  return h("figure", {}, h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Drawing" },
    s("svg", { class: "graph", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...edges, ...dots)), h("figcaption", {}, label));
}

/** @param {HTMLElement} main @param {AbortSignal} signal */
export function show(main, signal) {
  const text = h("textarea", { id: "program", rows: 10, spellcheck: "false", required: true });
  const file = h("input", {
    type: "file", id: "program-file", class: "unseen", onchange: async () => { text.value = await file.files?.[0]?.text() ?? text.value; },
  });
  const [trouble, costs, drawing] = [h("div"), h("div"), h("div")];
  const submit = h("button", { class: "first" }, "Count the cost");
  const count = async () => {
    submit.disabled = true;
    for (const place of [trouble, costs, drawing]) place.replaceChildren();
    try {
      const found = await api.program(text.value, signal);
      const ports = (/** @type {import("./api.js").Result[]} */ list) => list.map(({ name, type, shape }) => `${name}: ${type}${shape?.length ? `[${shape.join(", ")}]` : ""}`).join(", ");
      const rows = h("tbody");
      costs.replaceChildren(h("p", {}, h("strong", {}, `This ${found.form}`), ` takes ${ports(found.inputs)} and gives ${ports(found.outputs)}.`),
        h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table of costs" }, h("table", {},
          h("thead", {}, h("tr", {}, ...["Parameter set", "Bootstraps", "Products", "Depth"].map((name) => h("th", { scope: "col" }, name)))), rows)),
        h("p", { class: "quiet" }, "The depth is the number of these operations on the longest path: a run has at least as many waves. The last set is of scheme BGV, which multiplies without bootstraps. Nothing was run."));
      for (const set of SETS) {
        const cost = await api.get(`v1/programs/${found.digest}?params=${set}`, signal).then(({ cost }) => [cost.bootstraps, cost.products, cost.depth], (error) => {
          // A set that cannot run the program says so in its row.
          if (!(error instanceof Problem)) throw error;
          return [error.message, "", ""];
        });
        rows.append(h("tr", {}, h("th", { scope: "row" }, set), ...cost.map((value) => h("td", {}, value.toLocaleString("en")))));
      }
      const layers = await layersOf(text.value, signal);
      drawing.replaceChildren(h("h2", {}, "Drawing"), layers?.count ? drawn(layers) : h("p", { class: "quiet" }, "Programs and Bristol circuits are drawn, and other formats are not."));
    } catch (error) {
      explain(trouble, error);
    } finally {
      submit.disabled = false;
    }
  };
  main.append(h("h1", {}, "The cost of a program"),
    h("p", { class: "lead" }, "Paste a program in JSON, or a circuit in Bristol, BLIF or JSON of Yosys. The service counts its bootstraps, and runs nothing."),
    h("form", { class: "card", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); count(); } },
      h("label", { for: "program" }, "Program or circuit"), text,
      h("div", { class: "row" }, submit, h("span", { class: "file" }, file, h("label", { for: "program-file" }, "Open a file")),
        h("button", { type: "button", onclick: () => { text.value = EXAMPLE; text.focus(); } }, "Insert an example")), trouble, costs),
    drawing);
}
