// Where the owner is: the fragment of the address, "#/links/ID?tab=history". The server never
// sees it, so a one-time code in it is in no log.

import { signal } from "./ui.js";

/**
 * @typedef {{path: string, query: Record<string, string>}} Place
 * @typedef {(params: Record<string, string>) => Promise<any>} Loader
 */

/** @returns {Place} */
function read() {
  const [path, query] = location.hash.slice(1).split("?");
  return { path: path || "/", query: Object.fromEntries(new URLSearchParams(query)) };
}

/** The place that is shown. */
export const place = signal(read());

/** What may keep the owner from leaving: each returns a question, or "". @type {Set<() => string>} */
export const leaving = new Set();

const question = () => [...leaving].map((ask) => ask()).find(Boolean);

let shown = location.hash;
addEventListener("hashchange", () => {
  if (location.hash === shown) return;
  const asked = question();
  if (asked && !confirm(asked)) {
    history.replaceState(null, "", shown || "#/");
    return;
  }
  leaving.clear();
  shown = location.hash;
  place.value = read();
});
addEventListener("beforeunload", (e) => {
  if (question()) e.preventDefault();
});

/**
 * The address of a place inside the dashboard.
 * @param {string} path
 * @param {Record<string, string | number | boolean | null | undefined>} [query] empty values are left out
 */
export function href(path, query = {}) {
  const kept = Object.entries(query).filter(([, v]) => v !== "" && v != null && v !== false);
  const text = new URLSearchParams(kept.map(([k, v]) => [k, String(v)])).toString();
  return "#" + path + (text && "?" + text);
}

/** Goes to a place. @param {string} path @param {Record<string, any>} [query] */
export const go = (path, query) => {
  location.hash = href(path, query);
};

/** Changes the query of this place without a step in the browser's history. @param {Record<string, any>} changes */
export function refine(changes) {
  const { path, query } = place.value;
  shown = href(path, { ...query, ...changes });
  history.replaceState(null, "", shown);
  place.value = read();
}

/**
 * Finds the route of a path. Parts that begin with a colon are parameters.
 * @template T
 * @param {[string, T][]} routes
 * @param {string} path
 * @returns {{found: T, params: Record<string, string>} | null}
 */
export function match(routes, path) {
  const parts = path.split("/").filter(Boolean);
  for (const [pattern, found] of routes) {
    const wanted = pattern.split("/").filter(Boolean);
    if (wanted.length !== parts.length) continue;
    /** @type {Record<string, string>} */
    const params = {};
    if (wanted.every((w, i) => (w[0] === ":" ? ((params[w.slice(1)] = decodeURIComponent(parts[i])), true) : w === parts[i]))) {
      return { found, params };
    }
  }
  return null;
}
