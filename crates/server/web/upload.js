// Uploads: small files in one request, large ones in parts by tus 1.0.0, so that a lost connection loses little.

import { Problem } from "./api.js";

/** The most bytes of a file that is sent at once, and the most bytes of a part. */
const IN_PARTS = 8 << 20;
const PART = 4 << 20;
/** How often an upload is begun again that the service has no longer. */
const BEGUN = 3;
/** How often the service may have no more bytes than before, as after a crash. */
const STILL = 10;

/**
 * Stores a file as the blob of its digest.
 * @param {import("./api.js").Api} api @param {Uint8Array} file @param {string} digest
 * @param {(sent: number) => void} progress @param {AbortSignal} [signal]
 */
export async function upload(api, file, digest, progress, signal) {
  // The parts of a blob are read outside of the thread of the page.
  const blob = new Blob([/** @type {BlobPart} */ (file)]);
  if (blob.size <= IN_PARTS) {
    await api.request("PUT", `v1/blobs/${digest}`, { body: blob, signal }, (response) => response.text());
    return progress(blob.size);
  }
  for (let begun = 1; ; begun++) {
    try {
      return await inParts(api, await begin(api, blob.size, digest, signal), blob, progress, signal);
    } catch (error) {
      const isLost = error instanceof Problem && [404, 410].includes(error.status);
      if (!isLost || begun === BEGUN) throw error;
    }
  }
}

/**
 * Begins an upload, and returns its path.
 * @param {import("./api.js").Api} api @param {number} length @param {string} digest @param {AbortSignal} [signal]
 */
async function begin(api, length, digest, signal) {
  const headers = { "tus-resumable": "1.0.0", "upload-length": String(length), "upload-metadata": `digest ${btoa(digest)}` };
  const { id } = await api.send("POST", "v1/uploads", undefined, { headers, signal });
  return `v1/uploads/${id}`;
}

/**
 * Sends all bytes. The service says how many it has, also after a lost connection.
 * @param {import("./api.js").Api} api @param {string} path @param {Blob} file
 * @param {(sent: number) => void} progress @param {AbortSignal} [signal]
 */
async function inParts(api, path, file, progress, signal) {
  const tus = { "tus-resumable": "1.0.0" };
  /** @param {Response} response */
  const offset = async (response) => {
    const text = response.headers.get("upload-offset");
    if (!text || !/^[0-9]+$/.test(text)) throw Object.assign(new Error("The service did not tell how much of the file it has"), { fix: "let proxies pass the header Upload-Offset" });
    return Number(text);
  };
  for (let [at, still] = [0, 0]; at < file.size; progress(at)) {
    const headers = { ...tus, "upload-offset": String(at), "content-type": "application/offset+octet-stream" };
    const options = { headers, signal, body: file.slice(at, at + PART) };
    const has = await api.request("PATCH", path, options, offset).catch((error) => {
      // A part whose answer was lost has arrived.
      const isAhead = error instanceof Problem && error.code === "offset_mismatch";
      if (!isAhead) throw error;
      return api.request("HEAD", path, { headers: tus, signal }, offset);
    });
    if (!(has > at) && ++still > STILL) throw Object.assign(new Error("The upload makes no progress"), { fix: "try again later" });
    at = has;
  }
}
