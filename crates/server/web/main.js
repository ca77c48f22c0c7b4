// The page: the screen of the address, the connection, and the banner of a service that cannot be reached.

import * as auction from "./auction.js";
import * as cardio from "./cardio.js";
import { showConnection, takeToken, tokenForm } from "./connection.js";
import { h, say } from "./dom.js";
import * as job from "./job.js";
import * as jobs from "./jobs.js";
import * as program from "./program.js";
import { api } from "./session.js";
import * as attempt from "./try.js";

/** @typedef {{title: string, show: (main: HTMLElement, signal: AbortSignal, id: string) => void}} Screen */

/** @type {[RegExp, Screen][]} */
const SCREENS = [[/^#\/try$/, attempt], [/^#\/cardio$/, cardio], [/^#\/auction$/, auction], [/^#\/jobs$/, jobs], [/^#\/jobs\/(\w+)$/, job], [/^#\/program$/, program]];
const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const banner = /** @type {HTMLElement} */ (document.getElementById("banner"));
let leaving = new AbortController();

/** @type {Screen} */
const connect = {
  title: "Connect",
  show: (main) => main.append(h("h1", {}, "Connect to the service"), tokenForm(() => show(true))),
};

/** @type {Screen} */
const unknown = {
  title: "Unknown page",
  show: (main) => main.append(h("h1", {}, "There is no such page"), h("p", {}, h("a", { href: "#/try" }, "“Try it”"), " is the first one.")),
};

/** Shows the screen of the address. @param {boolean} moves whether the focus goes to its heading */
function show(moves) {
  leaving.abort(new DOMException("The screen was left", "AbortError"));
  leaving = new AbortController();
  const [pattern, found] = SCREENS.find(([pattern]) => pattern.test(location.hash)) ?? [/$/, unknown];
  const screen = api.token ? found : connect;
  main.replaceChildren();
  banner.hidden = true;
  document.title = `${screen.title} · Solinas`;
  screen.show(main, leaving.signal, pattern.exec(location.hash)?.[1] ?? "");
  for (const link of document.querySelectorAll("nav a")) {
    const isHere = location.hash === link.getAttribute("href");
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (moves) {
    scrollTo(0, 0);
    const heading = main.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
  }
  showConnection(() => show(true));
}

api.addEventListener("waiting", (event) => {
  banner.textContent = `${/** @type {CustomEvent<Error>} */ (event).detail.message}. The page tries again by itself.`;
  if (banner.hidden) say(banner.textContent);
  banner.hidden = false;
});
api.addEventListener("settled", () => { banner.hidden = true; });
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", () => {
  takeToken();
  show(true);
});
takeToken();
if (!location.hash) history.replaceState(null, "", "#/try");
show(false);
