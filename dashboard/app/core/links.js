// What forms need to know of links.

import { member, orNull } from "./form.js";

/** @typedef {import("contract").Schema["Link"]} Link */

/** The fields of a link that its form has; names with dots are members of members. */
export const fields = [
  "desktopUrl", "title", "description", "imageUrl", "folderId", "campaignId", "playStoreUrl", "appStoreUrl", "appPath", "webOnly", "behavior",
  "lifecycle.startsAt", "lifecycle.expiresAt", "lifecycle.maxClicks", "lifecycle.expiredUrl", "utm.source", "utm.medium", "utm.campaign", "utm.term", "utm.content",
];

/** A slug that nobody guesses soon and nobody misreads: no l, 1, o, 0. */
export function newSlug() {
  const letters = "abcdefghijkmnpqrstuvwxyz23456789";
  return [...crypto.getRandomValues(new Uint8Array(6))].map((b) => letters[b % letters.length]).join("");
}

/** The values of the form for a link. @param {Link} link */
export const valuesOf = (link) => ({ ...link, utm: { ...link.utm }, lifecycle: { ...link.lifecycle } });

/** @param {string} name @param {any} value as the API takes it */
function typed(name, value) {
  if (name === "lifecycle.maxClicks") return value === "" || value == null ? null : Number(value);
  return typeof value === "string" ? orNull(value.trim()) : (value ?? null);
}

/** The fields that differ between two links. @param {any} a @param {any} b @returns {string[]} */
export const differences = (a, b) => fields.filter((f) => typed(f, member(a, f)) !== typed(f, member(b, f)));

/**
 * The input of a creation, or of a change: then only what was changed, and of utm and lifecycle all.
 * @param {any} values
 * @param {any} [before] the link that is changed
 */
export function inputOf(values, before) {
  /** @type {any} */
  const input = {};
  const wanted = before ? differences(values, before).map((f) => f.split(".")[0]) : [];
  for (const f of fields) {
    const [outer, inner] = f.split(".");
    const value = typed(f, member(values, f));
    if (before ? !wanted.includes(outer) : value === null) continue;
    if (!inner) input[outer] = value;
    else input[outer] = { ...input[outer], [inner]: value };
  }
  if (input.lifecycle && before) input.lifecycle.archived = before.lifecycle.archived;
  return input;
}

/** A destination with utm parameters as a visitor gets it. @param {string} url @param {any} utm */
export function withUtm(url, utm) {
  try {
    const u = new URL(url);
    for (const [k, v] of Object.entries(utm ?? {})) if (v && !u.searchParams.has("utm_" + k)) u.searchParams.set("utm_" + k, String(v));
    return u.href;
  } catch {
    return url;
  }
}

/** What people mean who paste an address without its scheme. @param {string} text */
export function completed(text) {
  const t = text.trim();
  return t && !/^[a-z][a-z0-9+.-]*:/i.test(t) && /^[^\s/]+\.[^\s]+/.test(t) ? "https://" + t : t;
}
