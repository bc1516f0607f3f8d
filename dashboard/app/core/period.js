// Periods of analytics: whole days in the owner's time zone, up to now.

import { instant, shown, zone } from "./locale.js";

/** The periods that can be chosen, in days. */
export const periods = [1, 7, 30, 90, 365];

/**
 * The query of a period: the last days, today included. Its ends are whole days, so that
 * what the server remembers of a period serves all of today.
 * @param {number} days
 */
export function period(days) {
  const clock = shown(new Date());
  clock.setUTCHours(24, 0, 0, 0);
  const end = instant(clock).toISOString();
  clock.setUTCDate(clock.getUTCDate() - days);
  return { start: instant(clock).toISOString(), end, timezone: zone };
}

/** The length of a bar of the chart. @param {number} days */
export const granularity = (days) => (days <= 2 ? "hour" : days <= 92 ? "day" : days <= 400 ? "week" : "month");

/**
 * All buckets of a period, with zeros where the answer has none.
 * @param {{start: string, localLabel: string, clicks: number}[]} sparse
 * @param {number} days
 * @returns {{at: Date, clicks: number, unique: number}[]}
 */
export function fill(sparse, days) {
  const unit = granularity(days);
  const { start, end } = period(days);
  const clock = shown(new Date(start));
  if (unit === "week") clock.setUTCDate(clock.getUTCDate() - ((clock.getUTCDay() + 6) % 7));
  if (unit === "month") clock.setUTCDate(1);
  const known = new Map(sparse.map((b) => [Date.parse(b.start), b]));
  const all = [];
  let at = instant(clock);
  while (at.getTime() < Date.parse(end)) {
    const b = /** @type {any} */ (known.get(Math.max(at.getTime(), Date.parse(start))) ?? known.get(at.getTime()));
    all.push({ at, clicks: b?.clicks ?? 0, unique: b?.uniqueVisitors ?? 0 });
    if (unit === "month") clock.setUTCMonth(clock.getUTCMonth() + 1);
    else clock.setUTCDate(clock.getUTCDate() + (unit === "week" ? 7 : 1));
    at = unit === "hour" ? new Date(at.getTime() + 3600_000) : instant(clock);
  }
  return all;
}
