// What all screens share: the service, the token, and the keys of this tab.

import { Api } from "./api.js";
import { Client } from "./client.js";
import * as kept from "./kept.js";
import { upload } from "./upload.js";

/** @typedef {import("./client.js").KeyFacts} Keys */

const NAME = "token";

export const api = new Api(new URL(".", location.href));
api.token = sessionStorage.getItem(NAME) ?? "";

/** @param {string} token */
export function setToken(token) {
  api.token = token;
  if (token) sessionStorage.setItem(NAME, token);
  else sessionStorage.removeItem(NAME);
}

/** The keys of this tab. The event `change` follows each change, and `progress` tells how far new keys are. */
class Session extends EventTarget {
  /** @type {Client | null} */
  client = null;
  /** @type {Error | null} Why there is no client. */
  failure = null;
  /** @type {Keys | null} */
  keys = null;
  isKept = false;
  isBusy = false;
  /** @type {Promise<void> | null} */
  #started = null;

  /** Starts the client, and loads the keys that this browser keeps. */
  start() {
    this.#started ??= (async () => {
      try {
        this.client = await Client.start();
      } catch (error) {
        this.failure = /** @type {Error} */ (error);
      }
      try {
        const files = this.client && await kept.load();
        if (files) this.keys = await this.client?.load(files.clientKey, files.serverKey) ?? null;
        this.isKept = Boolean(files);
      } catch {
        // What the browser kept cannot be read, so there are no keys yet.
      }
      this.dispatchEvent(new Event("change"));
    })();
    return this.#started;
  }

  /** The client. @throws if the service comes without it. */
  async ready() {
    await this.start();
    if (!this.client) throw this.failure ?? new Error("The client did not start");
    return this.client;
  }

  /** @param {(client: Client) => Promise<Keys>} work makes or loads keys */
  async #take(work) {
    const client = await this.ready();
    this.isBusy = true;
    this.dispatchEvent(new Event("change"));
    try {
      this.keys = await work(client);
      if (this.isKept) await this.keep(true);
    } finally {
      this.isBusy = false;
      this.dispatchEvent(new Event("change"));
    }
    return this.keys;
  }

  make() {
    return this.#take((client) => client.keygen("integers-128", (done, total) => {
      this.dispatchEvent(new CustomEvent("progress", { detail: done / total }));
    }));
  }

  /** @param {Uint8Array} clientKey @param {Uint8Array} [serverKey] */
  load(clientKey, serverKey) {
    return this.#take((client) => client.load(clientKey, serverKey));
  }

  /** @param {boolean} on whether this browser keeps the keys */
  async keep(on) {
    const client = await this.ready();
    if (on) await kept.save(await client.clientKey(), await client.serverKey());
    else await kept.forget();
    this.isKept = on;
    this.dispatchEvent(new Event("change"));
  }
}

export const session = new Session();

/**
 * Registers the server key of this tab, unless the service has it. Returns the number of bytes sent.
 * @param {(sent: number, all: number) => void} progress @param {AbortSignal} [signal]
 */
export async function register(progress, signal) {
  const [client, keys] = [await session.ready(), session.keys];
  if (!keys) throw Object.assign(new Error("This tab has no keys"), { fix: "make keys, or load client.key" });
  /** @type {{keys: {key_id: string}[]}} */
  const known = await api.get("v1/keys", signal);
  if (known.keys.some((key) => key.key_id === keys.keyId)) return 0;
  const file = await client.serverKey();
  const digest = await client.digest(file);
  await upload(api, file, digest, (sent) => progress(sent, file.length), signal);
  await api.send("PUT", `v1/keys/${keys.keyId}`, { blob: digest }, { signal });
  return file.length;
}
