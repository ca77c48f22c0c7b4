// The worker that holds the secret key. It loads the client in WebAssembly (`crates/web`) and answers one message after another.

/**
 * @typedef {{memory: WebAssembly.Memory, buffer(place: number, bytes: number): number, call(): number,
 *   output(place: number): number, output_bytes(place: number): number, forget(): void}} Exports
 * @typedef {{id: number, request: {do: string}, file?: Uint8Array}} Question
 */

/** The most bytes that the browser gives at a time. */
const RANDOM = 65536;

/** A build of the service that has no client. */
class Absent extends Error {}

/** @type {Promise<Exports>} */
const loaded = load().catch((error) => {
  throw error instanceof Absent ? error : new Error("the client of the page did not load; try again");
});
/** The message of the last panic. */
let panic = "";
/** The number of the question that is being answered. */
let current = 0;

/** @returns {Promise<Exports>} */
async function load() {
  const answer = await fetch(new URL("solinas.wasm", import.meta.url));
  if (answer.status === 404) {
    throw new Absent("this build of the service has no client for browsers; `cargo xtask web` makes it");
  }
  /** @type {Exports | undefined} */
  let wasm;
  /** @param {number} at @param {number} count */
  const bytes = (at, count) => new Uint8Array(/** @type {Exports} */ (wasm).memory.buffer, at, count);
  const page = {
    /** @param {number} at @param {number} count */
    random(at, count) {
      for (let done = 0; done < count; done += RANDOM) {
        crypto.getRandomValues(bytes(at + done, Math.min(RANDOM, count - done)));
      }
    },
    /** @param {number} done @param {number} total */
    progress(done, total) {
      postMessage({ id: current, progress: { done, total } });
    },
    /** @param {number} at @param {number} count */
    panicked(at, count) {
      panic = new TextDecoder().decode(bytes(at, count));
    },
  };
  const { instance } = await WebAssembly.instantiateStreaming(answer, { page });
  wasm = /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
  return wasm;
}

/**
 * @param {Exports} wasm
 * @param {Question} question
 * @returns {{value: any, file: Uint8Array<ArrayBuffer>} | {error: string}}
 */
function answer(wasm, { request, file = new Uint8Array() }) {
  const encoded = new TextEncoder().encode(JSON.stringify(request));
  [encoded, file].forEach((bytes, place) => {
    const at = wasm.buffer(place, bytes.length);
    new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes);
  });
  const isGood = wasm.call();
  const [text, result] = [0, 1].map((place) => new Uint8Array(wasm.memory.buffer, wasm.output(place), wasm.output_bytes(place)).slice());
  wasm.forget();
  const value = JSON.parse(new TextDecoder().decode(text));
  return isGood ? { value, file: result } : { error: value.error };
}

/** @param {MessageEvent<Question>} message */
onmessage = async ({ data }) => {
  try {
    const wasm = await loaded;
    current = data.id;
    const found = answer(wasm, data);
    postMessage({ id: data.id, ...found }, { transfer: "file" in found ? [found.file.buffer] : [] });
  } catch (error) {
    // The memory of a module that broke off is in no known state, so no other question is answered.
    const text = panic || (error instanceof Error ? error.message : String(error));
    postMessage({ id: data.id, fatal: text });
    close();
  }
};

// A page that waits for nothing yet learns of a failed load by its first question.
loaded.catch(() => {});
