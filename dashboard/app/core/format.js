// Numbers and instants as the owner's locale writes them, in the owner's time zone.

import { instant, locale, shown, zone } from "./locale.js";
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
  key += locale + zone;
  if (!made.has(key)) made.set(key, make());
  return made.get(key);
}

/** @param {Intl.DateTimeFormatOptions} options */
export const dates = (options) => once(JSON.stringify(options), () => new Intl.DateTimeFormat(locale, { ...options, timeZone: zone }));

/** @param {number} n */
export const number = (n) => once("number", () => new Intl.NumberFormat(locale)).format(n);

/** @param {number} n */
export const compact = (n) =>
  once("compact", () => new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 })).format(n);

/** With one digit after the point. @param {number} n */
export const decimal = (n) => once("decimal", () => new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })).format(n);

/** @param {number} part between 0 and 1 */
export const percent = (part) => once("percent", () => new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 })).format(part);

/** @param {string} instant */
export const day = (instant) => dates({ dateStyle: "medium" }).format(new Date(instant));

/** @param {string} instant */
export const moment = (instant) => dates({ dateStyle: "medium", timeStyle: "short" }).format(new Date(instant));

/** @param {string} instant */
export const time = (instant) => dates({ timeStyle: "short" }).format(new Date(instant));

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
export const bytes = (n) => (n < 1 << 20 ? number(Math.ceil(n / 1024)) + " KiB" : decimal(n / (1 << 20)) + " MiB");

/** An instant as a field of date and time has it, in the owner's zone. @param {string | null | undefined} at */
export const toField = (at) => (at ? shown(new Date(at)).toISOString().slice(0, 16) : "");

/** The instant of such a field. @param {string} field */
export const fromField = (field) => (field ? instant(new Date(field + "Z")).toISOString() : null);

/** A link as people write it. @param {{url: string}} link */
export const bare = (link) => link.url.replace(/^https?:\/\//, "");
