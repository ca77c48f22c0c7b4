// Keys that this browser keeps. The client key is stored under a key of WebCrypto that no script can read.

const [DATABASE, STORE, ENTRY] = ["solinas", "keys", "mine"];

/** Whether this browser can keep keys. It needs HTTPS, or an address of this machine. */
export const canKeep = Boolean(globalThis.crypto?.subtle && globalThis.indexedDB);

/**
 * @template T
 * @param {IDBRequest<T>} request @returns {Promise<T>}
 */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * @template T
 * @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest<T>} work @returns {Promise<T>}
 */
async function within(mode, work) {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await done(opening);
  try {
    return await done(work(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

/** @param {Uint8Array} clientKey @param {Uint8Array} serverKey */
export async function save(clientKey, serverKey) {
  const wrapping = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const wrapped = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, wrapping, /** @type {BufferSource} */ (clientKey));
  await within("readwrite", (store) => store.put({ wrapping, iv, wrapped, serverKey }, ENTRY));
}

/** @returns {Promise<{clientKey: Uint8Array, serverKey: Uint8Array} | null>} */
export async function load() {
  if (!canKeep) return null;
  const entry = await within("readonly", (store) => store.get(ENTRY));
  if (!entry) return null;
  const clientKey = await crypto.subtle.decrypt({ name: "AES-GCM", iv: entry.iv }, entry.wrapping, entry.wrapped);
  return { clientKey: new Uint8Array(clientKey), serverKey: entry.serverKey };
}

export async function forget() {
  if (canKeep) await within("readwrite", (store) => store.delete(ENTRY));
}
