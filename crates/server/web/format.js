// Numbers, times and bytes as text.

/** @param {number} count @param {string} noun */
export function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** @param {number} count */
export function bytes(count) {
  if (count < 1000) return counted(count, "byte");
  const power = Math.min(4, Math.floor(Math.log10(count) / 3));
  return `${Number((count / 10 ** (3 * power)).toPrecision(3))} ${["", "kB", "MB", "GB", "TB"][power]}`;
}

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds <= 0) return "0 s";
  if (seconds < 0.0995) return `${Math.max(1, Math.round(1e3 * seconds))} ms`;
  if (seconds < 99.5) return `${seconds.toPrecision(2)} s`;
  return seconds < 5940 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** @param {string} time a time in RFC 3339 */
export function moment(time) {
  return new Date(time).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

/** @param {string} id */
export const short = (id) => `${id.replace(/^b3-/, "").slice(0, 10)}…`;

/** @param {Uint8Array} data */
export function hex(data) {
  return Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

/**
 * The first bytes of a file, in lines of 16.
 * @param {Uint8Array} data
 */
export function dump(data, most = 4096) {
  const lines = [];
  for (let at = 0; at < Math.min(most, data.length); at += 16) {
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex(data.subarray(at, at + 16))}`);
  }
  if (data.length > most) lines.push(`… and ${bytes(data.length - most)} more`);
  return lines.join("\n");
}

/**
 * The last lines of 16 bytes of a file that are not padding.
 * @param {Uint8Array} data
 */
export function glimpse(data, lines = 3) {
  const found = [];
  for (let end = data.length; end > 0 && found.length < lines; end -= 16) {
    const line = data.subarray(Math.max(0, end - 16), end);
    if (line.some((byte) => byte !== 0)) found.unshift(hex(line));
  }
  return found.join(" ");
}
