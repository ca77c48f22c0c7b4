// Times the client of the page in Node: `node client.mjs`. It runs the worker of the page, with the functions of a browser that the worker calls.

import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    wasm: { type: "string", default: new URL("../../crates/server/web/solinas.wasm", import.meta.url).pathname },
    params: { type: "string", default: "integers-128" },
    keys: { type: "string", default: "5" },
    values: { type: "string", default: "201" },
    solinas: { type: "string" },
  },
});

const wasm = await readFile(options.wasm);
let answered = () => {};
Object.assign(globalThis, {
  onmessage: null,
  fetch: async () => new Response(wasm, { headers: { "content-type": "application/wasm" } }),
  postMessage: (message) => "progress" in message || answered(message),
  close: () => {},
});
await import(new URL("../../crates/server/web/worker.js", import.meta.url));

/** Sends a question to the worker. Returns its answer and the milliseconds until then. */
async function ask(request, file) {
  const start = performance.now();
  const answer = await new Promise((resolve) => {
    answered = resolve;
    globalThis.onmessage({ data: { id: 1, request, file } });
  });
  const problem = answer.error ?? answer.fatal;
  if (problem !== undefined) throw new Error(problem);
  return { ...answer, time: performance.now() - start };
}

/** Times a question again and again, and checks each answer. */
async function times(count, question, check) {
  const all = [];
  for (let run = 0; run < count; run++) {
    const { request, file } = question(run);
    const answer = await ask(request, file);
    if (!check(answer, run)) throw new Error(`a wrong answer to ${JSON.stringify(request)}`);
    all.push(answer.time);
  }
  return all.sort((a, b) => a - b);
}

/** The data of a key file. The room before them differs between a file and memory; bytes 16 to 23 have its size. */
const data = (file) => file.subarray(Number(file.readBigUInt64LE(16)));

/** Fails unless the data of the keys of a seed are those of the command line, byte by byte. */
async function compare(solinas) {
  const folder = await mkdtemp(join(tmpdir(), "solinas-client-"));
  try {
    const seed = 20261128;
    await ask({ do: "keygen", params: options.params, insecure_seed: seed });
    execFileSync(solinas, ["keygen", "--params", options.params, "--insecure-seed", `${seed}`, "--out", join(folder, "keys")], { stdio: "ignore" });
    for (const name of ["client", "server"]) {
      const theirs = await readFile(join(folder, "keys", `${name}.key`));
      const ours = Buffer.from((await ask({ do: `${name}_key` })).file);
      if (!data(ours).equals(data(theirs))) throw new Error(`another ${name}.key than that of ${solinas}`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

if (options.solinas !== undefined) await compare(options.solinas);
const keygen = await times(Number(options.keys), () => ({ request: { do: "keygen", params: options.params } }), ({ value }) => value.params === options.params);
const number = (run) => String((run * 2654435761) % 2 ** 32);
const files = [];
const encrypt = await times(Number(options.values), (run) => ({ request: { do: "encrypt", type: "u32", value: number(run) } }), ({ file }) => files.push(file));
const decrypt = await times(files.length, (run) => ({ request: { do: "decrypt" }, file: files[run] }), ({ value }, run) => value.values[0] === number(run));
const server = await times(3, () => ({ request: { do: "server_key" } }), ({ file }) => file.length > 0);

const row = (what, sorted, asked = 0) => {
  const median = sorted[sorted.length >> 1];
  const goal = asked > 0 ? `${asked} ms${median > asked ? ", missed" : ""}` : "";
  const three = (time) => `${Number(time.toPrecision(3))}`;
  console.log(`| ${what} | ${three(median)} ms (${three(sorted[0])} to ${three(sorted[sorted.length - 1])}) | ${goal} |`);
};
console.log("| what | median (least to most) | asked |\n|---|---|---|");
row(`key generation (${options.params})`, keygen, 2000);
row("file of the server key", server);
row("encryption of a `u32`", encrypt, 10);
row("decryption of a `u32`", decrypt);
const compared = options.solinas === undefined ? "" : "Keys of a seed are those of the command line. ";
console.log(`\n${compared}${wasm.length} bytes, Node ${process.version}, ${cpus().length} cores of ${cpus()[0].model}, ${new Date().toISOString().slice(0, 16)}`);
