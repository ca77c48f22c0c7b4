// A sealed-bid auction: bids become ciphertexts here, and the service finds the highest one without seeing any.

import { STEPS, compute, decrypted } from "./compute.js";
import { explain, h, say } from "./dom.js";
import { bytes, counted, dump, duration, glimpse } from "./format.js";
import { keysPart } from "./keys.js";
import { api, session } from "./session.js";
import { Steps } from "./steps.js";

export const title = "Auction";
const NOBODY = "No one knows the winner yet.";
const [LEAST, MOST] = [2, 32];
/** Milliseconds without typing after which a bid is encrypted. */
const REST = 200;

/** @typedef {{item: HTMLLIElement, input: HTMLInputElement, shown: HTMLElement, file: Uint8Array | null}} Bidder */

/** @param {HTMLElement} main @param {AbortSignal} signal */
export function show(main, signal) {
  /** @type {Bidder[]} */
  const bidders = [];
  const list = h("ol", { class: "bidders" });
  const type = h("select", { id: "type" }, ...["u8", "u16", "u32"].map((name) => h("option", { selected: name === "u16" }, name)));
  const more = h("button", { type: "button", onclick: () => { add(); bidders.at(-1)?.input.focus(); } }, "Add a bidder");
  const fewer = h("button", { type: "button", onclick: () => { bidders.pop()?.item.remove(); count(); } }, "Remove the last one");
  const [winner, trouble, progress, requests, saw] = [h("p", { class: "winner" }, NOBODY), h("div"), h("div"), h("tbody"), h("div")];

  const fields = h("fieldset", { oninput: () => reset() },
    h("div", { class: "row" }, h("label", { for: "type" }, "Type of the bids"), type, more, fewer), list,
    h("div", { class: "row" }, h("button", { class: "first" }, "Find the winner")));

  /** Takes back what was said of other bids. */
  const reset = () => {
    winner.textContent = NOBODY;
    for (const { item } of bidders) item.classList.remove("won");
  };
  const count = () => {
    reset();
    more.disabled = bidders.length >= MOST;
    fewer.disabled = bidders.length <= LEAST;
    list.setAttribute("aria-label", counted(bidders.length, "bidder"));
  };
  const limit = () => (1n << BigInt(type.value.slice(1))) - 1n;

  /** Whether a bid is a number of the type. @param {Bidder} bidder */
  const fits = ({ input }) => {
    const does = /^[0-9]+$/.test(input.value) && BigInt(input.value) <= limit();
    input.setCustomValidity(does ? "" : `Give a whole number of 0 to ${limit()}.`);
    return does;
  };
  /** Encrypts a bid, and shows its bytes. @param {Bidder} bidder */
  const seal = async (bidder) => {
    const { input: { value }, shown } = bidder;
    const [{ client, keys }, kind] = [session, type.value];
    if (!fits(bidder)) shown.textContent = "This bid is not a number of the type.";
    else if (!keys || !client) shown.textContent = "The bid is encrypted when there are keys.";
    else {
      const file = await client.encrypt(kind, value);
      if (bidder.input.value !== value || type.value !== kind || session.keys?.keyId !== keys.keyId) return;
      bidder.file = file;
      shown.replaceChildren(h("span", { class: "unseen" }, "Ciphertext: "), h("b", {}, bytes(file.length)), " ", h("code", {}, `… ${glimpse(file)}`));
    }
  };
  let sealing = Promise.resolve();
  /** Encrypts the bids that are not, one after the other. */
  const sealAll = () => {
    const sealed = sealing.then(async () => {
      for (const bidder of bidders) if (!bidder.file) await seal(bidder);
    });
    sealing = sealed.catch((error) => explain(trouble, error));
    return sealed;
  };
  const sealAgain = () => {
    for (const bidder of bidders) bidder.file = null;
    sealAll();
  };
  const add = () => {
    const id = `bid-${bidders.length}`;
    const input = h("input", { id, inputmode: "numeric", required: true, autocomplete: "off", value: String(100 + crypto.getRandomValues(new Uint8Array(1))[0] % 150) });
    const shown = h("p", { class: "bytes" });
    const item = h("li", {}, h("label", { for: id }, `Bidder ${bidders.length + 1}`), input, shown);
    const bidder = { item, input, shown, file: null };
    let timer = 0;
    input.addEventListener("input", () => {
      bidder.file = null;
      fits(bidder);
      clearTimeout(timer);
      timer = setTimeout(sealAll, REST);
    });
    bidders.push(bidder);
    list.append(item);
    count();
    sealAll();
  };

  /** @param {Event} event */
  const listed = (event) => {
    const { method, path, status, sent, received, isStream, ms } = /** @type {CustomEvent<import("./api.js").Sent>} */ (event).detail;
    const place = path.replace(/([0-9a-f]{8})[0-9a-f]{50,}/, "$1…");
    requests.append(h("tr", {}, h("td", {}, h("code", {}, `${method} ${place}`)), h("td", {}, status), h("td", {}, bytes(sent)),
      h("td", {}, received ? bytes(received) : isStream ? "stream" : "none"), h("td", {}, duration(ms / 1e3))));
  };
  const start = async () => {
    const steps = new Steps(STEPS);
    const ends = new AbortController();
    progress.replaceChildren(steps.element);
    for (const place of [trouble, requests, saw]) place.replaceChildren();
    reset();
    winner.textContent = "The service computes.";
    fields.disabled = true;
    api.addEventListener("request", listed, { signal: ends.signal });
    try {
      steps.next();
      const wrong = bidders.findIndex((bidder) => !fits(bidder));
      if (wrong >= 0) throw Object.assign(new Error(`The bid of bidder ${wrong + 1} is not a number of the type`), { fix: `give a whole number of 0 to ${limit()}` });
      const { files, results, price, index } = await session.using(async (client, { keyId, params }) => {
        steps.next(params);
        await sealAll();
        const files = bidders.map(({ file }) => {
          if (!file) throw Object.assign(new Error("A bid is not encrypted"), { fix: "start again" });
          return file;
        });
        const program = await client.auction(files.length, type.value);
        steps.next(`${counted(files.length, "bid")}, ${bytes(files.reduce((all, file) => all + file.length, 0))}`);
        const results = await compute(keyId, `auction of ${files.length} bidders`, program, files, steps, signal);
        return { files, results, price: await decrypted(results[0]), index: await decrypted(results[1]) };
      });
      steps.next("highest bid and its bidder");
      winner.replaceChildren(h("strong", {}, `Bidder ${Number(index) + 1}`), " wins with ", h("strong", {}, price), ".");
      say(winner.textContent ?? "");
      bidders.forEach(({ item }, at) => item.classList.toggle("won", at === Number(index)));
      const seen = [...files.map((file, at) => ({ name: `Bid of bidder ${at + 1}`, file })), { name: "Highest bid", file: results[0] }, { name: "Index of the winner", file: results[1] }];
      saw.replaceChildren(h("p", {}, "The service had these files, the server key and the program, and nothing else of the auction. Without the client key, their bytes look random."),
        ...seen.map(({ name, file }) => h("details", {}, h("summary", {}, `${name}, ${bytes(file.length)}`), h("pre", { tabindex: 0, "aria-label": name }, dump(file)))));
    } catch (error) {
      steps.fail();
      winner.textContent = NOBODY;
      explain(trouble, error);
    } finally {
      ends.abort();
      fields.disabled = false;
    }
  };

  let key = session.keys?.keyId;
  type.addEventListener("change", sealAgain);
  session.addEventListener("change", () => {
    if (session.keys?.keyId !== key) sealAgain();
    key = session.keys?.keyId;
  }, { signal });
  progress.append(new Steps(STEPS).element);
  for (let at = 0; at < 8; at++) add();
  main.append(h("h1", {}, "A sealed-bid auction"),
    h("p", { class: "lead" }, "The service finds the highest bid and its bidder, and learns neither. Every bid is a ciphertext before it leaves this tab."),
    keysPart(signal),
    h("form", { class: "card", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); start(); } },
      h("h2", {}, "Bids"),
      h("p", { class: "quiet" }, "One person in this tab plays all bidders. On several machines, bidders encrypt with public.key, which “solinas keygen” writes, after they compared its fingerprint. They never share the client key."),
      fields, winner, trouble),
    h("section", { class: "card", "aria-labelledby": "steps-title" }, h("h2", { id: "steps-title" }, "What happens"), progress),
    h("section", { class: "card", "aria-labelledby": "requests-title" }, h("h2", { id: "requests-title" }, "Requests"),
      h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table of requests" },
        h("table", {}, h("thead", {}, h("tr", {}, ...["Request", "Status", "Sent", "Received", "Time"].map((name) => h("th", { scope: "col" }, name)))), requests))),
    h("section", { class: "card", "aria-labelledby": "saw-title" }, h("h2", { id: "saw-title" }, "What the server saw"), saw));
  saw.append(h("p", { class: "quiet" }, "The ciphertexts are listed here after the auction."));
}
