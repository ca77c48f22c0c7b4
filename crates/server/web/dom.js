// Elements from script. Screens build their content with `h`, and pictures with `s`.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, any>} Props */

/**
 * Sets properties: `on...` listens, `true` and `false` set attributes without values, and the rest are attributes.
 * @param {Element} element @param {Props} props @param {Child[]} children
 */
function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") /** @type {HTMLInputElement} */ (element).value = value;
    else if (typeof value === "boolean") element.toggleAttribute(name, value);
    else if (value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false).map((child) => child instanceof Node ? child : String(child)));
}

/**
 * An element of HTML.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Props} [props] @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, props, children);
  return element;
}

/**
 * An element of SVG.
 * @param {string} tag @param {Props} [props] @param {...Child} children
 * @returns {SVGElement}
 */
export function s(tag, props = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, props, children);
  return element;
}

/**
 * Says a sentence to screen readers.
 * @param {string} sentence
 */
export function say(sentence) {
  const said = document.getElementById("said");
  if (said) said.textContent = sentence;
}

/**
 * An error with its fix. It takes the place of the content of `place`.
 * @param {Element} place @param {unknown} error
 */
export function explain(place, error) {
  if (error instanceof DOMException && error.name === "AbortError") return;
  const { message, fix, requestId } = /** @type {Error & {fix?: string, requestId?: string}} */ (error instanceof Error ? error : new Error(String(error)));
  place.replaceChildren(h("div", { class: "problem", role: "alert" },
    h("p", {}, h("strong", {}, sentence(message))),
    fix && h("p", {}, "To fix it: ", sentence(fix)),
    requestId && h("p", { class: "quiet" }, "The operator finds this request in the log as ", h("code", {}, requestId), "."),
  ));
}

/**
 * A text with a capital letter and a full stop.
 * @param {string} text
 */
export function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

/**
 * Offers bytes as a file.
 * @param {Uint8Array} bytes @param {string} name
 */
export function download(bytes, name) {
  const url = URL.createObjectURL(new Blob([/** @type {BlobPart} */ (bytes)], { type: "application/octet-stream" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
