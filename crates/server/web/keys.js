// The keys of this tab: made, loaded, downloaded and kept. Shared by the screens that encrypt.

import { bytes, short } from "./format.js";
import { download, explain, h, say, sentence } from "./dom.js";
import { canKeep } from "./kept.js";
import { session } from "./session.js";

/** The most bytes of a file that is read. */
const MOST = 256 << 20;

/** Asks before keys are lost that are stored nowhere else. */
function mayReplace() {
  const { keys, isKept, isSaved } = session;
  return !keys || isKept || isSaved || confirm("The present keys are neither downloaded nor kept. Without them, nobody can decrypt their results. Replace them?");
}

/**
 * @param {AbortSignal} signal ends with the screen
 * @returns {HTMLElement}
 */
export function keysPart(signal) {
  const state = h("div", { class: "key-state" });
  const trouble = h("div");
  /** @param {() => Promise<unknown>} work */
  const attempt = (work) => async () => {
    trouble.replaceChildren();
    await work().catch((error) => explain(trouble, error));
    show();
  };
  const files = h("input", {
    type: "file", multiple: true, class: "unseen", id: "key-files", accept: ".key",
    onchange: attempt(async () => {
      // Of the files of one key generation, client.key is the shortest and server.key the longest.
      const chosen = [...files.files ?? []].sort((a, b) => a.size - b.size);
      files.value = "";
      if (!chosen.length || !mayReplace()) return;
      const large = chosen.find(({ size }) => size > MOST);
      if (large) throw Object.assign(new Error(`${large.name} is larger than 256 MiB, so it is no key`), { fix: "choose client.key and server.key" });
      const [clientKey, serverKey] = await Promise.all([chosen[0], ...chosen.slice(1).slice(-1)].map(async (file) => new Uint8Array(await file.arrayBuffer())));
      await session.load(clientKey, serverKey);
      say("The keys are loaded.");
    }),
  });
  const make = h("button", { type: "button", onclick: attempt(async () => { if (mayReplace()) await session.make().then(() => say("The keys are made.")); }) });
  /** @type {HTMLInputElement} */
  const keeps = h("input", { type: "checkbox", id: "keep", onchange: attempt(() => session.keep(keeps.checked).then(() => say(session.isKept ? "This browser keeps the keys." : "This browser does not keep the keys."))) });
  const save = h("button", {
    type: "button", onclick: attempt(async () => download(await session.save(), "client.key")),
  }, "Download client.key");

  const bar = h("progress", { "aria-label": "Keys" });
  session.addEventListener("progress", (event) => { bar.value = /** @type {CustomEvent<number>} */ (event).detail; }, { signal });

  const show = () => {
    const { keys, isBusy, isFree, failure, client } = session;
    make.textContent = keys ? "Make new keys" : "Make keys";
    // A client that did not load is loaded again.
    make.disabled = !isFree || !(client || failure);
    files.disabled = !isFree || !client;
    make.classList.toggle("first", !keys);
    save.disabled = keeps.disabled = isBusy || !keys;
    keeps.disabled ||= !canKeep;
    keeps.checked = session.isKept;
    if (failure) return state.replaceChildren(missing(failure));
    if (isBusy) return state.replaceChildren(h("p", {}, "The keys are being made or loaded. It takes about 3 seconds."), bar);
    if (!keys) return state.replaceChildren(h("p", {}, client ? "This tab has no keys yet." : "The client starts…"));
    state.replaceChildren(h("dl", { class: "facts" },
      h("div", {}, h("dt", {}, "Key"), h("dd", {}, h("code", { title: keys.keyId }, short(keys.keyId)))),
      h("div", { class: "wide" }, h("dt", {}, "Fingerprint"), h("dd", {}, h("code", { id: "fingerprint" }, keys.fingerprint))),
      h("div", {}, h("dt", {}, "Parameters"), h("dd", {}, keys.params)),
      h("div", {}, h("dt", {}, "Security"), h("dd", {}, `${Math.floor(keys.classicalBits)} bits`)),
      h("div", {}, h("dt", {}, "Server key"), h("dd", {}, bytes(keys.serverBytes)))));
    if (keys.weakness) state.append(h("p", { class: "problem" }, sentence(keys.weakness)));
  };
  session.addEventListener("change", show, { signal });
  session.addEventListener("lost", (event) => explain(trouble, /** @type {CustomEvent<Error>} */ (event).detail), { signal });
  show();
  session.start();
  return h("section", { class: "card", "aria-labelledby": "keys-title" },
    h("h2", { id: "keys-title" }, "Your keys"),
    h("p", {}, "The client key is secret. It encrypts and decrypts, and no request contains it. The service gets the server key only, which computes and cannot decrypt."),
    state,
    h("p", { class: "quiet" }, "The fingerprint recognises the keys. Others who encrypt for you compare it with what “solinas inspect --fingerprint public.key” prints."),
    h("div", { class: "row" }, make, h("span", { class: "file" }, files, h("label", { for: "key-files" }, "Load client.key and server.key")), save,
      h("span", { class: "tick" }, keeps, h("label", { for: "keep" }, "Keep the keys in this browser"))),
    trouble,
    h("details", {}, h("summary", {}, "How far this can be trusted"),
      h("p", {}, "The keys are made by the program of this page, and the service sends that program. So the promise holds as far as the service is honest when it sends the page. The command line needs no page, and avoids that trust."),
      h("p", {}, "Without “Keep”, the keys are lost when the tab closes. With Keep, this browser stores the client key in encrypted form. Only pages of this address can decrypt it, so a dishonest page could. ",
        "To load client.key into another tab, add server.key if the service does not have it yet.",
        !canKeep && " This browser keeps keys for pages under HTTPS or on this machine only.")));
}

/** @param {Error} failure */
function missing(failure) {
  return h("div", { class: "problem", role: "alert" },
    h("p", {}, h("strong", {}, "This page cannot make keys."), " ", sentence(failure.message)),
    h("p", {}, "Jobs and programs are shown all the same."));
}
