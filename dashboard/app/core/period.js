// Periods of analytics: whole days in the browser's time zone, up to now.

/** The periods that can be chosen, in days. */
export const periods = [1, 7, 30, 90, 365];

export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/**
 * The query of a period: the last days, today included. Its ends are whole days, so that
 * what the server remembers of a period serves all of today.
 * @param {number} days
 */
export function period(days) {
  const end = new Date();
  end.setHours(24, 0, 0, 0);
  const start = new Date(end);
  start.setDate(start.getDate() - days);
  return { start: start.toISOString(), end: end.toISOString(), timezone: zone };
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
  const at = new Date(start);
  if (unit === "week") at.setDate(at.getDate() - ((at.getDay() + 6) % 7));
  if (unit === "month") at.setDate(1);
  const known = new Map(sparse.map((b) => [Date.parse(b.start), b]));
  const all = [];
  while (at.getTime() < Date.parse(end)) {
    const b = /** @type {any} */ (known.get(Math.max(at.getTime(), Date.parse(start))) ?? known.get(at.getTime()));
    all.push({ at: new Date(at), clicks: b?.clicks ?? 0, unique: b?.uniqueVisitors ?? 0 });
    if (unit === "hour") at.setHours(at.getHours() + 1);
    else if (unit === "month") at.setMonth(at.getMonth() + 1);
    else at.setDate(at.getDate() + (unit === "week" ? 7 : 1));
  }
  return all;
}
