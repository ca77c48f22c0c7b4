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

/**
 * The keys of this tab. The event `change` follows each change, `progress` tells how far new keys are, and `lost` that the client broke off with the keys.
 */
class Session extends EventTarget {
  /** @type {Client | null} */
  client = null;
  /** @type {Error | null} Why there is no client. */
  failure = null;
  /** @type {Keys | null} */
  keys = null;
  isKept = false;
  /** Whether the user has the client key in a file. */
  isSaved = false;
  isBusy = false;
  #users = 0;
  /** @type {Promise<void> | null} */
  #started = null;
  /** @type {Promise<unknown>} The end of the present change of keys, or of what is kept of them. */
  #taken = Promise.resolve();

  /** Whether the keys may change now. */
  get isFree() {
    return !this.isBusy && this.#users === 0;
  }

  /** Starts the client, and loads the keys that this browser keeps. After a failure, the next call starts it again. */
  start() {
    return this.#started ??= this.#open(true);
  }

  /** @param {boolean} restores whether kept keys are loaded */
  async #open(restores) {
    try {
      this.client = await Client.start();
      this.client.onend = (failure) => this.#lose(failure);
      this.failure = null;
      if (restores) await this.#restore(this.client);
    } catch (error) {
      this.failure = /** @type {Error} */ (error);
      this.#started = null;
    }
    this.#changed();
  }

  /** @param {Client} client */
  async #restore(client) {
    try {
      const files = await kept.load();
      if (!files) return;
      this.keys = await client.load(files.clientKey, files.serverKey);
      this.isKept = true;
    } catch {
      // What the browser kept cannot be read, so there are no keys yet.
    }
  }

  /** Forgets the keys of a client that broke off, and starts another one. @param {Error} failure */
  #lose(failure) {
    this.client = this.keys = null;
    this.isKept = this.isSaved = false;
    this.#started = this.#open(false);
    const lost = Object.assign(new Error(`The client of this page broke off, and this tab has no keys any more: ${failure.message}`), {
      fix: "make new keys, or load client.key and server.key",
    });
    this.dispatchEvent(new CustomEvent("lost", { detail: lost }));
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }

  /** The client. @throws if there is none. */
  async ready() {
    await this.start();
    if (!this.client) throw this.failure ?? new Error("The client did not start");
    return this.client;
  }

  /** @param {boolean} isSaved whether they come from files @param {(client: Client) => Promise<Keys>} work makes or loads keys */
  #take(isSaved, work) {
    const taking = this.#replace(isSaved, work);
    this.#taken = taking.catch(() => {});
    return taking;
  }

  /** @param {boolean} isSaved @param {(client: Client) => Promise<Keys>} work */
  async #replace(isSaved, work) {
    const client = await this.ready();
    this.isBusy = true;
    this.#changed();
    try {
      this.keys = await work(client);
      [this.isKept, this.isSaved] = [false, isSaved];
      return this.keys;
    } finally {
      this.isBusy = false;
      this.#changed();
    }
  }

  make() {
    return this.#take(false, (client) => client.keygen(undefined, (done, total) => {
      this.dispatchEvent(new CustomEvent("progress", { detail: done / total }));
    }));
  }

  /** @param {Uint8Array} clientKey @param {Uint8Array} [serverKey] */
  load(clientKey, serverKey) {
    return this.#take(true, (client) => client.load(clientKey, serverKey));
  }

  /**
   * Does work with the keys of this tab, which are made if there are none, and which stay until the end of the work.
   * @template T
   * @param {(client: Client, keys: Keys) => Promise<T>} work
   */
  async using(work) {
    const taken = this.#taken;
    const client = await this.ready();
    await taken;
    const keys = this.keys ?? await this.make();
    this.#users += 1;
    this.#changed();
    try {
      return await work(client, keys);
    } finally {
      this.#users -= 1;
      this.#changed();
    }
  }

  /** The file of the client key, which the user stores. */
  async save() {
    const file = await this.using((client) => client.clientKey());
    this.isSaved = true;
    return file;
  }

  /** @param {boolean} on whether this browser keeps the keys */
  async keep(on) {
    this.isKept = on;
    const work = this.using(async (client, { keyId }) => on
      ? kept.save(keyId, await client.clientKey(), await client.serverKey())
      : kept.forget(keyId));
    this.#taken = work.catch(() => { this.isKept = !on; });
    await work;
  }
}

export const session = new Session();

/**
 * Registers the server key of this tab, unless the service has it. Returns the number of bytes sent.
 * @param {string} keyId @param {(sent: number, all: number) => void} progress @param {AbortSignal} [signal]
 */
export async function register(keyId, progress, signal) {
  const client = await session.ready();
  /** @type {{keys: {key_id: string}[]}} */
  const known = await api.get("v1/keys", signal);
  if (known.keys.some((key) => key.key_id === keyId)) return 0;
  const file = await client.serverKey();
  const digest = await client.digest(file);
  await upload(api, file, digest, (sent) => progress(sent, file.length), signal);
  await api.send("PUT", `v1/keys/${keyId}`, { blob: digest }, { signal });
  return file.length;
}
