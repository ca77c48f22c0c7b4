// Requests to the service, their repetition, and the events of jobs.

/**
 * @typedef {{digest: string, type: string, shape: number[] | null, bytes: number, name: string | null}} Result
 * @typedef {{bootstraps: number, recrypts: number, products: number, rotations: number, depth: number, core_seconds: number}} Cost
 * @typedef {{code: string, detail: string, fix: string}} JobError
 * @typedef {"queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired"} State
 * @typedef {{id: string, name: string | null, state: State, version: number, key: string, program: string,
 *   priority: number, progress: {done: number, total: number, wave: number, waves: number}, cost: Cost,
 *   core_seconds: number, attempts: number, audit: { runs: number, divergent: boolean } | null, created: string, started: string | null, ended: string | null,
 *   expires: string | null, results: Result[] | null, error: JobError | null}} Job
 * @typedef {{step: number, width: number, bootstraps: number, done: number, estimated_ms: number, measured_ms: number | null}} Wave
 * @typedef {"running" | "paused" | "succeeded" | "failed" | "retried" | "audited" | "lost" | "cancelled"} Left
 * @typedef {{worker: string, run: number, begin: string, end: string | null, pauses: number, state: Left}} Period
 * @typedef {{waves: Wave[], now: string, periods: Period[], periods_left_out: number}} Schedule
 * @typedef {{method: string, path: string, status: number, sent: number, received: number, isStream: boolean, ms: number}} Sent
 * @typedef {{body?: Blob | string, headers?: Record<string, string>, signal?: AbortSignal}} Options
 */

/** Milliseconds for which a request is repeated, of the first pause, which doubles, and of the longest. */
const PATIENCE = 120_000;
const PAUSE = 200;
const LONGEST = 10_000;
/** Milliseconds of silence after which a stream of events is lost. The service sends a comment every 15 seconds. */
const SILENCE = 40_000;
/** Statuses of refusals that pass. */
const PASSING = [408, 429, 502, 503, 504];

/** A refusal by the service. */
export class Problem extends Error {
  /** @param {number} status @param {Record<string, any>} body @param {number} wait milliseconds after which the request may succeed */
  constructor(status, body, wait) {
    super(body.detail ?? `The service answered with status ${status}`);
    this.status = status;
    this.wait = wait;
    this.code = String(body.code ?? "");
    this.fix = String(body.fix ?? "try again later");
    this.requestId = String(body.request_id ?? "");
  }
}

/** A connection that was lost, or not made. */
export class Lost extends Error {
  constructor() {
    super("The service cannot be reached");
    this.fix = "see whether the service runs and whether you are online, then try again";
  }
}

/** Pauses between tries of one thing, which grow. */
class Pauses {
  #end = Date.now() + PATIENCE;
  #next = PAUSE;

  /**
   * Waits if the error may pass and there is time left, and throws it otherwise.
   * @param {Api} api @param {unknown} error @param {AbortSignal} [signal]
   */
  async wait(api, error, signal) {
    const passes = error instanceof Lost || (error instanceof Problem && PASSING.includes(error.status));
    const asked = error instanceof Problem ? error.wait : 0;
    // Many pages that lost one service do not come back at one moment.
    const wait = Math.max(asked, this.#next) * (1 + Math.random());
    if (!passes || Date.now() + wait > this.#end) {
      api.dispatchEvent(new Event("settled"));
      throw error;
    }
    this.#next = Math.min(2 * this.#next, LONGEST);
    api.dispatchEvent(new CustomEvent("waiting", { detail: error }));
    await sleep(wait, signal);
  }
}

/** @param {number} ms @param {AbortSignal} [signal] @returns {Promise<void>} */
export function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => { clearTimeout(timer); reject(signal?.reason); };
    const timer = setTimeout(() => { signal?.removeEventListener("abort", stop); resolve(); }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** A random text, which no other request has. `crypto.randomUUID` exists under HTTPS only. */
function unique() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The service, and a token for it. It sends the events `request` (a {@link Sent}), `waiting` before a request is repeated, and `settled` when one has its answer or is given up. */
export class Api extends EventTarget {
  token = "";

  /** @param {URL} base the address of the page */
  constructor(base) {
    super();
    this.base = base;
  }

  /**
   * Sends a request once.
   * @param {string} method @param {string} path @param {Options} [options] @returns {Promise<Response>}
   */
  async #once(method, path, { body, headers, signal } = {}) {
    const start = performance.now();
    const sent = typeof body === "string" ? new Blob([body]) : body;
    /** @type {Response} */
    let response;
    try {
      response = await fetch(new URL(path, this.base), {
        method, signal, body: sent, cache: "no-store",
        headers: this.token ? { authorization: `Bearer ${this.token}`, ...headers } : headers,
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof TypeError) throw new Lost();
      throw error;
    }
    const detail = {
      method, path: `/${path}`, status: response.status, sent: sent?.size ?? 0,
      received: Number(response.headers.get("content-length") ?? 0),
      isStream: response.headers.get("content-type")?.startsWith("text/event-stream") ?? false, ms: performance.now() - start,
    };
    this.dispatchEvent(new CustomEvent("request", { detail }));
    if (response.ok) {
      this.dispatchEvent(new Event("settled"));
      return response;
    }
    const wait = 1e3 * Number(response.headers.get("retry-after")) || 0;
    // A proxy answers in its own words.
    throw new Problem(response.status, await response.json().catch(() => ({})), wait);
  }

  /**
   * Sends a request until it succeeds, or fails for good, and reads its answer.
   * @template T
   * @param {string} method @param {string} path @param {Options} options @param {(response: Response) => Promise<T>} read
   * @returns {Promise<T>}
   */
  async request(method, path, options, read) {
    const pauses = new Pauses();
    for (;;) {
      try {
        const response = await this.#once(method, path, options);
        return await read(response).catch((error) => {
          options.signal?.throwIfAborted();
          throw error instanceof TypeError ? new Lost() : error;
        });
      } catch (error) {
        await pauses.wait(this, error, options.signal);
      }
    }
  }

  /** @param {string} path @param {AbortSignal} [signal] @returns {Promise<any>} */
  get(path, signal) {
    return this.request("GET", path, { signal }, (response) => response.json());
  }

  /** @param {string} path @param {AbortSignal} [signal] @returns {Promise<Uint8Array>} */
  file(path, signal) {
    return this.request("GET", path, { signal }, async (response) => new Uint8Array(await response.arrayBuffer()));
  }

  /** @param {string} method @param {string} path @param {unknown} [body] @param {Options} [options] @returns {Promise<any>} */
  send(method, path, body, options = {}) {
    const headers = { "content-type": "application/json", ...options.headers };
    const all = body === undefined ? options : { ...options, headers, body: JSON.stringify(body) };
    return this.request(method, path, all, (response) => response.status === 204 ? Promise.resolve(null) : response.json());
  }

  /** @param {string} text @param {AbortSignal} [signal] @returns {Promise<{digest: string, form: string, inputs: Result[], outputs: Result[]}>} */
  program(text, signal) {
    return this.request("POST", "v1/programs", { body: text, signal, headers: { "content-type": "text/plain" } }, (response) => response.json());
  }

  /**
   * Starts a job. A request that is repeated never starts a second one.
   * @param {unknown} body @param {AbortSignal} [signal] @returns {Promise<Job>}
   */
  submit(body, signal) {
    return this.send("POST", "v1/jobs", body, { signal, headers: { "idempotency-key": unique() } });
  }

  /** @param {string} id @returns {Promise<Job>} */
  cancel(id) {
    return this.send("POST", `v1/jobs/${id}/cancel`);
  }

  /**
   * The states of a job until its end. A stream that breaks off is opened again.
   * @param {string} id @param {AbortSignal} [signal] @returns {AsyncGenerator<Job>}
   */
  async *follow(id, signal) {
    let [last, pauses] = ["", new Pauses()];
    for (;;) {
      try {
        const headers = { accept: "text/event-stream", ...(last && { "last-event-id": last }) };
        const { body } = await this.#once("GET", `v1/jobs/${id}/events`, { headers, signal });
        if (body) {
          for await (const event of events(body, signal)) {
            [last, pauses] = [event.id, new Pauses()];
            yield JSON.parse(event.data);
            if (event.event === "done") return;
          }
        }
        throw new Lost();
      } catch (error) {
        await pauses.wait(this, error, signal);
      }
    }
  }
}

/**
 * The server-sent events of a stream, without comments.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<{event: string, id: string, data: string}>}
 */
async function* events(stream, signal) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      let timer = 0;
      const silence = new Promise((_, reject) => { timer = setTimeout(() => reject(new Lost()), SILENCE); });
      const { done, value } = await Promise.race([reader.read(), /** @type {Promise<never>} */ (silence)]).catch((error) => {
        signal?.throwIfAborted();
        throw error instanceof TypeError ? new Lost() : error;
      }).finally(() => clearTimeout(timer));
      if (done) return;
      text += value;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = { event: "", id: "", data: "" };
        for (const line of block.split("\n")) {
          const [, name, content] = /^(event|id|data): ?(.*)$/.exec(line) ?? [];
          if (name) event[/** @type {keyof typeof event} */ (name)] += content;
        }
        if (event.data) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
