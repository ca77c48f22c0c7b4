// The client of the page: keys, encryption and decryption. The work happens in a worker. The secret key leaves it only for a download and for “Keep”.

/**
 * @typedef {{keyId: string, fingerprint: string, params: string, classicalBits: number, serverBytes: number, weakness: string | null}} KeyFacts
 * @typedef {{type: string, shape: number[] | null, values: string[]}} Values
 * @typedef {(done: number, total: number) => void} Progress
 * @typedef {{resolve: (answer: {value: any, file: Uint8Array}) => void, reject: (error: Error) => void, progress?: Progress}} Waiting
 */

export class Client {
  /** @param {Worker} worker */
  constructor(worker) {
    this.worker = worker;
    this.last = 0;
    /** @type {Map<number, Waiting>} */
    this.waiting = new Map();
    /** @type {Error | null} Why this client has ended. */
    this.failure = null;
    /** @type {(failure: Error) => void} Called at the end of this client. */
    this.onend = () => {};
    worker.onmessage = ({ data }) => this.#answered(data);
    worker.onerror = () => this.#end("the client of the page did not load; try again");
  }

  /**
   * Starts the worker and loads the client.
   * @returns {Promise<Client>} Rejects if this build of the service has no client, or if the browser cannot run it.
   */
  static async start() {
    const client = new Client(new Worker(new URL("worker.js", import.meta.url), { type: "module" }));
    await client.digest(new Uint8Array());
    return client;
  }

  /**
   * Makes a key pair. It takes seconds.
   * @param {string} [params] The parameter set; by default that of the library.
   * @param {Progress} [progress]
   * @returns {Promise<KeyFacts>}
   */
  async keygen(params, progress) {
    return (await this.#ask({ do: "keygen", params: params ?? null }, undefined, progress)).value;
  }

  /**
   * Takes the files of a key pair.
   * @param {Uint8Array} clientKey @param {Uint8Array} [serverKey]
   * @returns {Promise<KeyFacts>}
   */
  async load(clientKey, serverKey = new Uint8Array()) {
    const files = new Uint8Array(clientKey.length + serverKey.length);
    files.set(clientKey);
    files.set(serverKey, clientKey.length);
    return (await this.#ask({ do: "load", client_bytes: clientKey.length }, files)).value;
  }

  /** The file of the client key, which is secret. */
  async clientKey() {
    return (await this.#ask({ do: "client_key" })).file;
  }

  /** The file of the server key, which is public. */
  async serverKey() {
    return (await this.#ask({ do: "server_key" })).file;
  }

  /**
   * @param {string} type Such as `u16`. @param {string} value In decimal.
   * @returns {Promise<Uint8Array>} The file of the ciphertext.
   */
  async encrypt(type, value) {
    return (await this.#ask({ do: "encrypt", type, value })).file;
  }

  /** @param {Uint8Array} file @returns {Promise<Values>} */
  async decrypt(file) {
    return (await this.#ask({ do: "decrypt" }, file)).value;
  }

  /** @param {Uint8Array} file @returns {Promise<string>} Its name at the service: `b3-` and the BLAKE3 hash in hexadecimal digits. */
  async digest(file) {
    return (await this.#ask({ do: "digest" }, file)).value;
  }

  /** @param {string} name An operation, such as `add`. @param {string[]} types @returns {Promise<string>} The text of the program. */
  async program(name, types) {
    return (await this.#ask({ do: "program", name, types })).value;
  }

  /** @param {number} bidders 2 to 32. @param {string} type @returns {Promise<string>} The text of a program whose outputs are the highest bid and the place of its bidder. */
  async auction(bidders, type) {
    return (await this.#ask({ do: "auction", bidders, type })).value;
  }

  /**
   * @param {Record<string, unknown>} request @param {Uint8Array} [file] @param {Progress} [progress]
   * @returns {Promise<{value: any, file: Uint8Array}>}
   */
  #ask(request, file, progress) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      if (this.failure) {
        throw this.failure;
      }
      this.waiting.set(id, { resolve, reject, progress });
      this.worker.postMessage({ id, request, file });
    });
  }

  /** @param {{id: number, value?: any, file?: Uint8Array, error?: string, fatal?: string, progress?: {done: number, total: number}}} message */
  #answered({ id, value, file, error, fatal, progress }) {
    if (fatal !== undefined) {
      this.#end(fatal);
      return;
    }
    const waiting = this.waiting.get(id);
    if (!waiting) {
      return;
    }
    if (progress) {
      waiting.progress?.(progress.done, progress.total);
      return;
    }
    this.waiting.delete(id);
    if (error === undefined) {
      waiting.resolve({ value, file: file ?? new Uint8Array() });
    } else {
      waiting.reject(new Error(error));
    }
  }

  /** @param {string} text */
  #end(text) {
    const failure = new Error(text);
    this.failure = failure;
    this.worker.terminate();
    for (const { reject } of this.waiting.values()) {
      reject(failure);
    }
    this.waiting.clear();
    this.onend(failure);
  }
}
