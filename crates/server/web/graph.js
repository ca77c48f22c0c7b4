// A worker that finds the layers of a program: a node comes after its arguments. It reads program JSON and Bristol.

/** @typedef {{op: string, args: number[], layer: number}} Placed */
/** @typedef {{layers: number[], nodes: Placed[], count: number}} Drawing */

/** A longer drawing shows its layers only. */
const MOST = 60;

/** @typedef {{at: number, op: string, args: number[]}} Node in the order of computation */

/** @param {string} text @returns {Node[]} */
function nodesOf(text) {
  if (text.trimStart().startsWith("{")) {
    const document = JSON.parse(text);
    /** @type {{nodes: {op: string | object, args: number[]}[]}} */
    const { nodes } = document.program ?? document;
    return nodes.map(({ op, args }, at) => ({ at, op: typeof op === "string" ? op : Object.keys(op)[0], args }));
  }
  const lines = text.split("\n").map((line) => line.trim().split(/\s+/)).filter(([first]) => first);
  const inputs = lines[1].slice(1).reduce((all, width) => all + Number(width), 0);
  return [...Array.from({ length: inputs }, (_, at) => ({ at, op: "input", args: [] })), ...lines.slice(3).map((words) => {
    const takes = Number(words[0]);
    return { at: Number(words[2 + takes]), op: String(words.at(-1)).toLowerCase(), args: words.slice(2, 2 + takes).map(Number) };
  })];
}

/** @param {string} text @returns {Drawing} */
function drawing(text) {
  const [layers, placed] = [/** @type {number[]} */ ([]), /** @type {Placed[]} */ ([])];
  for (const { at, op, args } of nodesOf(text)) {
    const layer = args.reduce((most, arg) => Math.max(most, placed[arg].layer + 1), 0);
    placed[at] = { op, args, layer };
    layers[layer] = (layers[layer] ?? 0) + 1;
  }
  return { layers, nodes: placed.length > MOST ? [] : placed, count: placed.length };
}

addEventListener("message", ({ data }) => {
  try {
    postMessage(drawing(data));
  } catch {
    // BLIF and JSON of Yosys have costs, and no drawing.
    postMessage(null);
  }
});

export {};
