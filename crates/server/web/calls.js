// The same call from a shell and from Python.

import { h } from "./dom.js";

/**
 * Texts to copy, one for each way to call.
 * @param {Record<string, string>} texts
 */
export function calls(texts) {
  return h("section", { class: "card", "aria-labelledby": "calls-title" }, h("h2", { id: "calls-title" }, "The same call elsewhere"),
    ...Object.entries(texts).map(([name, text]) => {
      const copy = h("button", {
        type: "button", class: "small", "aria-label": `Copy the call for ${name}`,
        onclick: async () => {
          await navigator.clipboard.writeText(text).then(() => { copy.textContent = "Copied"; }, () => { copy.textContent = "Not allowed"; });
          setTimeout(() => { copy.textContent = "Copy"; }, 2000);
        },
      }, "Copy");
      return h("details", {}, h("summary", {}, name), copy, h("pre", { tabindex: 0, "aria-label": name }, text));
    }));
}

/** Operations of two values: the name, the sign, how Python writes it, and the type of the result if it is another one. */
export const OPERATIONS = [
  { name: "add", sign: "+", says: "plus", python: "a + b" },
  { name: "sub", sign: "−", says: "minus", python: "a - b" },
  { name: "mul", sign: "×", says: "times", python: "a * b" },
  { name: "div", sign: "÷", says: "divided by", python: "a // b" },
  { name: "rem", sign: "mod", says: "remainder", python: "a % b" },
  { name: "min", sign: "min", says: "minimum", python: "sl.minimum(a, b)" },
  { name: "max", sign: "max", says: "maximum", python: "sl.maximum(a, b)" },
  { name: "lt", sign: "<", says: "is less than", python: "a < b", result: "bool" },
  { name: "eq", sign: "=", says: "is equal to", python: "a == b", result: "bool" },
];

/**
 * @param {string} server @param {string} type @param {typeof OPERATIONS[number]} operation @param {string} a @param {string} b
 */
export function callsOf(server, type, operation, a, b) {
  const ty = { uint: Number(type.slice(1)) };
  const program = JSON.stringify({
    inputs: [{ name: "a", ty }, { name: "b", ty }],
    nodes: [{ op: { input: 0 }, args: [], ty }, { op: { input: 1 }, args: [], ty }, { op: operation.name, args: [0, 1], ty: operation.result ?? ty }],
    outputs: [{ name: "result", value: 2 }],
  });
  const [T, R] = [type, operation.result ?? type].map((name) => name.replace(/^./, (letter) => letter.toUpperCase()));
  return calls({
    "Command line": `export SOLINAS_SERVER=${server} SOLINAS_TOKEN=slk_...
solinas keygen --out keys
solinas encrypt --key keys/client.key --type ${type} ${a} -o a.ct
solinas encrypt --key keys/client.key --type ${type} ${b} -o b.ct
solinas eval --server --key keys/server.key ${operation.name} a.ct b.ct -o c.ct
solinas decrypt --key keys/client.key c.ct`,
    "Python": `import solinas as sl

@sl.program
def f(a: sl.${T}, b: sl.${T}) -> sl.${R}:
    return ${operation.python}

client, server_key = sl.keygen()
remote = sl.connect("${server}", token="slk_...").register(server_key)
a, b = client.encrypt(sl.${type}(${a})), client.encrypt(sl.${type}(${b}))
print(client.decrypt(remote.run(f(a, b))))`,
    "curl": `# After the command line has made the keys, "solinas remote register keys/server.key", and has encrypted a.ct and b.ct:
export SERVER=${server} AUTH="Authorization: Bearer slk_..."
A=b3-$(b3sum --no-names a.ct) B=b3-$(b3sum --no-names b.ct)
curl -H "$AUTH" -T a.ct $SERVER/v1/blobs/$A
curl -H "$AUTH" -T b.ct $SERVER/v1/blobs/$B
PROGRAM=$(curl -sH "$AUTH" $SERVER/v1/programs -d '${program}' | jq -r .digest)
KEY=$(curl -sH "$AUTH" $SERVER/v1/keys | jq -r '.keys[0].key_id')
JOB=$(curl -sH "$AUTH" -H "Idempotency-Key: $(uuidgen)" $SERVER/v1/jobs \\
  -d '{"key": "'$KEY'", "program": "'$PROGRAM'", "inputs": [{"blob": "'$A'"}, {"blob": "'$B'"}]}' | jq -r .id)
curl -H "$AUTH" "$SERVER/v1/jobs/$JOB?wait=60"
curl -H "$AUTH" $SERVER/v1/jobs/$JOB/results/0 -o c.ct`,
  });
}
