// The keys of this tab: made, loaded, downloaded and kept. Shared by the screens that encrypt.

import { bytes, short } from "./format.js";
import { download, explain, h, say, sentence } from "./dom.js";
import { canKeep } from "./kept.js";
import { session } from "./session.js";

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
      const chosen = await Promise.all([...files.files ?? []].map(async (file) => new Uint8Array(await file.arrayBuffer())));
      files.value = "";
      // The client key is much shorter than the server key.
      const [clientKey, serverKey] = chosen.sort((a, b) => a.length - b.length);
      if (clientKey) await session.load(clientKey, serverKey).then(() => say("The keys are loaded."));
    }),
  });
  const make = h("button", { type: "button", onclick: attempt(() => session.make().then(() => say("The keys are made."))) });
  const keeps = h("input", { type: "checkbox", id: "keep", onchange: attempt(() => session.keep(!session.isKept).then(() => say(`This browser keeps ${session.isKept ? "the" : "no"} keys.`))) });
  const save = h("button", {
    type: "button", onclick: attempt(async () => download(await (await session.ready()).clientKey(), "client.key")),
  }, "Download client.key");

  const bar = h("progress", { "aria-label": "Keys" });
  session.addEventListener("progress", (event) => { bar.value = /** @type {CustomEvent<number>} */ (event).detail; }, { signal });

  const show = () => {
    const { keys, isBusy, failure, client } = session;
    make.textContent = keys ? "Make new keys" : "Make keys";
    make.disabled = isBusy || !client;
    files.disabled = isBusy || !client;
    make.classList.toggle("first", !keys);
    save.disabled = keeps.disabled = isBusy || !keys;
    keeps.disabled ||= !canKeep;
    keeps.checked = session.isKept;
    if (failure) return state.replaceChildren(missing(failure));
    if (isBusy) return state.replaceChildren(h("p", {}, "The keys are being made or loaded. It takes about 3 seconds."), bar);
    if (!keys) return state.replaceChildren(h("p", {}, client ? "This tab has no keys yet." : "The client starts…"));
    state.replaceChildren(h("dl", { class: "facts" },
      h("div", {}, h("dt", {}, "Key"), h("dd", {}, h("code", { title: keys.keyId }, short(keys.keyId)))),
      h("div", {}, h("dt", {}, "Parameters"), h("dd", {}, keys.params)),
      h("div", {}, h("dt", {}, "Security"), h("dd", {}, `${Math.floor(keys.classicalBits)} bits`)),
      h("div", {}, h("dt", {}, "Server key"), h("dd", {}, bytes(keys.serverBytes)))));
    if (keys.weakness) state.append(h("p", { class: "problem" }, sentence(keys.weakness)));
  };
  session.addEventListener("change", show, { signal });
  show();
  session.start();
  return h("section", { class: "card", "aria-labelledby": "keys-title" },
    h("h2", { id: "keys-title" }, "Your keys"),
    h("p", {}, "The client key encrypts and decrypts. Your secret key never leaves this tab: the service gets the server key only, which computes and cannot decrypt."),
    state,
    h("div", { class: "row" }, make, h("span", { class: "file" }, files, h("label", { for: "key-files" }, "Load client.key")), save,
      h("span", { class: "tick" }, keeps, h("label", { for: "keep" }, "Keep the keys in this browser"))),
    trouble,
    h("details", {}, h("summary", {}, "How far this can be trusted"),
      h("p", {}, "The keys are made by the program of this page, and the service sends that program. So the promise holds as far as the service is honest when it sends the page. The command line needs no page, and avoids that trust."),
      h("p", {}, "Without “Keep”, the keys are lost when the tab closes. With it, this browser stores the client key, encrypted under a key that no script can read. ",
        "To load client.key into another tab, add server.key if the service does not have it yet.",
        !canKeep && " This browser keeps keys for pages under HTTPS or on this machine only.")));
}

/** @param {Error} failure */
function missing(failure) {
  return h("div", { class: "problem", role: "alert" },
    h("p", {}, h("strong", {}, "This page cannot make keys."), " ", sentence(failure.message)),
    h("p", {}, "The operator of the service adds the client by ", h("code", {}, "cargo xtask web"), " before the build. Jobs and programs are shown all the same."));
}
