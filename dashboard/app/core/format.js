// Numbers and instants as the owner's language writes them, in the browser's time zone.

import { language, w } from "./words.js";

/** @type {Map<string, any>} */
const made = new Map();

/**
 * @template T
 * @param {string} key
 * @param {() => T} make
 * @returns {T}
 */
function once(key, make) {
  if (!made.has(key)) made.set(key, make());
  return made.get(key);
}

/** @param {number} n */
export const number = (n) => once("number", () => new Intl.NumberFormat(language)).format(n);

/** @param {number} n */
export const compact = (n) =>
  once("compact", () => new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 })).format(n);

/** @param {number} part between 0 and 1 */
export const percent = (part) => once("percent", () => new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 })).format(part);

/** @param {string} instant */
export const day = (instant) => once("day", () => new Intl.DateTimeFormat(language, { dateStyle: "medium" })).format(new Date(instant));

/** @param {string} instant */
export const moment = (instant) =>
  once("moment", () => new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" })).format(new Date(instant));

/** @param {string} instant */
export const time = (instant) => once("time", () => new Intl.DateTimeFormat(language, { timeStyle: "short" })).format(new Date(instant));

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const units = [["day", 86400], ["hour", 3600], ["minute", 60]];

/** How long ago, or how long from now. @param {string} instant */
export function ago(instant) {
  const seconds = (Date.parse(instant) - Date.now()) / 1000;
  const format = once("ago", () => new Intl.RelativeTimeFormat(language, { numeric: "auto" }));
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return Math.abs(seconds) > 30 * 86400 ? day(instant) : format.format(Math.trunc(seconds / length), unit);
  }
  return w.time.now;
}

/** @param {string} code of two letters, ZZ where it is not known */
export function country(code) {
  if (code === "ZZ") return w.unknown;
  try {
    return once("country", () => new Intl.DisplayNames([language], { type: "region" })).of(code) ?? code;
  } catch {
    return code;
  }
}

/** All countries there are, by name. @returns {[string, string][]} */
export function countries() {
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  return letters
    .flatMap((a) => letters.map((b) => a + b))
    .map((code) => /** @type {[string, string]} */ ([code, country(code)]))
    .filter(([code, name]) => name !== code && !["ZZ", "EU", "EZ", "UN", "QO", "XA", "XB"].includes(code))
    .sort((a, b) => a[1].localeCompare(b[1], language));
}

/** @param {number} n of bytes */
export const bytes = (n) => (n < 1 << 20 ? number(Math.ceil(n / 1024)) + " KiB" : number(Math.round((n / (1 << 20)) * 10) / 10) + " MiB");

/** An instant as a field of date and time has it, in the browser's zone. @param {string | null | undefined} instant */
export function toField(instant) {
  if (!instant) return "";
  const at = new Date(instant);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}

/** The instant of such a field. @param {string} field */
export const fromField = (field) => (field ? new Date(field).toISOString() : null);

/** A link as people write it. @param {{url: string}} link */
export const bare = (link) => link.url.replace(/^https?:\/\//, "");
