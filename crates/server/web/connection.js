// The service behind this page: its version, the token, and the use of today.

import { explain, h, say } from "./dom.js";
import { bytes, counted, duration } from "./format.js";
import { api, setToken } from "./session.js";

/**
 * Takes the token of an address that `solinas serve` printed, and removes it from the address bar and the history.
 */
export function takeToken() {
  const [, text] = /^#token=(.*)$/.exec(location.hash) ?? [];
  if (text === undefined) return;
  history.replaceState(null, "", `${location.pathname}${location.search}#/try`);
  const token = decoded(text).trim();
  if (!/^slk_[\w-]+$/.test(token) || token === api.token) return;
  if (!api.token || confirm("This tab uses another token than that of the address. Use the one of the address from now on?")) setToken(token);
}

/** @param {string} text a part of an address */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** The form for a token. @param {() => void} then */
export function tokenForm(then) {
  const token = h("input", { id: "token", type: "password", required: true, pattern: "sl[kw]_[A-Za-z0-9_\\-]+|[A-Za-z0-9_\\-]+(\\.[A-Za-z0-9_\\-]+){2}", autocomplete: "off", placeholder: "slk_..." });
  const trouble = h("div");
  const submit = async () => {
    setToken(token.value.trim());
    await api.get("v1/usage").then(then, (error) => {
      setToken("");
      explain(trouble, error);
    });
  };
  return h("form", { class: "card", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); submit(); } },
    h("p", {}, "A token is the password of a client. The service prints one at its first start, and ", h("code", {}, "solinas admin token create"), " makes more. This tab keeps it until the tab is closed."),
    h("label", { for: "token" }, "Token"), h("div", { class: "row" }, token, h("button", { class: "first" }, "Connect")), trouble);
}

/** Shows the connection in the footer. @param {() => void} forget called when the token is forgotten */
export async function showConnection(forget) {
  const place = /** @type {HTMLElement} */ (document.getElementById("connection"));
  const [version, use, actions] = [h("p", {}, "The service is asked for its version…"), h("p"), h("p")];
  place.replaceChildren(version, use, actions);
  try {
    const about = await api.get("v1/version");
    version.textContent = `Solinas ${about.version} at ${api.base.host}, ${counted(about.threads, "thread")}.`;
    if (about.reports) version.append(" ", h("a", { href: "reports/" }, "Reports of its speed"));
    if (!api.token) return;
    actions.append(h("button", { type: "button", class: "small", onclick: () => { setToken(""); say("The token is forgotten."); forget(); } }, "Forget the token"));
    const { tenant, today, quota } = await api.get("v1/usage");
    use.textContent = `Tenant ${tenant}: today ${duration(today.core_seconds)} of processor time, ${bytes(today.bytes_in)} in and ${bytes(today.bytes_out)} out; ` +
      `${bytes(today.stored_bytes)} of ${bytes(quota.stored_bytes)} stored.`;
  } catch (error) {
    explain(use, error);
  }
}
