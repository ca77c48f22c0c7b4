// Key pairs that this browser keeps. A client key is stored under a key of WebCrypto whose bytes no script can read.

const [DATABASE, STORE, TIME] = ["solinas-keys", "pairs", "time"];

/** Whether this browser can keep keys. It needs HTTPS, or an address of this machine. */
export const canKeep = Boolean(globalThis.crypto?.subtle && globalThis.indexedDB);

/** @returns {Promise<IDBDatabase>} */
function open() {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: "keyId" }).createIndex(TIME, TIME);
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
}

/**
 * Does one thing to the store, and waits until it is on the disk.
 * @template T
 * @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest<T>} work @returns {Promise<T>}
 */
async function within(mode, work) {
  const database = await open();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const request = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

/** @param {string} keyId @param {Uint8Array} clientKey @param {Uint8Array} serverKey */
export async function save(keyId, clientKey, serverKey) {
  const wrapping = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const wrapped = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, wrapping, /** @type {BufferSource} */ (clientKey));
  await within("readwrite", (store) => store.put({ keyId, time: Date.now(), wrapping, iv, wrapped, serverKey }));
}

/** The key pair that was kept last. @returns {Promise<{clientKey: Uint8Array, serverKey: Uint8Array} | null>} */
export async function load() {
  if (!canKeep) return null;
  const newest = await within("readonly", (store) => store.index(TIME).openCursor(null, "prev"));
  if (!newest) return null;
  const { wrapping, iv, wrapped, serverKey } = newest.value;
  const clientKey = await crypto.subtle.decrypt({ name: "AES-GCM", iv }, wrapping, wrapped);
  return { clientKey: new Uint8Array(clientKey), serverKey };
}

/** @param {string} keyId */
export async function forget(keyId) {
  await within("readwrite", (store) => store.delete(keyId));
}
