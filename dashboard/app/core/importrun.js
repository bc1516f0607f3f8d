// An import under way: its parts are tried, then committed. What is known of it is kept in the
// browser, so that it goes on after the page was loaded again. What was committed tells the API, so
// nothing is done twice.

import * as api from "./api.js";
import { each, patient } from "./patience.js";

/**
 * @typedef {{id: string, first: number, rows: number, state: string, invalid: number, succeeded: number, failed: number}} Part
 * @typedef {{row: number, state: string, message: string}} Trouble
 * @typedef {{name: string, rows: number, started: boolean, parts: Part[], trouble: Trouble[], tooLarge: number[]}} Run
 */

const atATime = 3;
const shown = 50;

/** @param {string} appId */
const place = (appId) => "waymark.import." + appId;

/** @param {string} appId @returns {Run | null} */
export const kept = (appId) => JSON.parse(localStorage.getItem(place(appId)) ?? "null");

/** @param {string} appId @param {Run | null} run */
export const keep = (appId, run) => (run ? localStorage.setItem(place(appId), JSON.stringify(run)) : localStorage.removeItem(place(appId)));

/** @param {Part} p */
const over = (p) => ["succeeded", "partially_succeeded", "failed", "cancelled", "gone", "nothing"].includes(p.state);

/** Whether all parts came to their ends. @param {Run} run */
export const finished = (run) => run.started && run.parts.every(over);

/** How many rows are in which state. @param {Run} run */
export function counts(run) {
  const sum = (of) => run.parts.reduce((n, p) => n + of(p), 0);
  const invalid = sum((p) => p.invalid) + run.tooLarge.length;
  const gone = sum((p) => (p.state === "gone" ? p.rows - p.invalid - p.succeeded - p.failed : 0));
  return { valid: run.rows - invalid, invalid, succeeded: sum((p) => p.succeeded), failed: sum((p) => p.failed), gone };
}

/** What a job of the API says of a part. @param {Part} part @param {any} job */
const take = (part, job) => Object.assign(part, { state: job.state, invalid: job.invalid, succeeded: job.succeeded, failed: job.failed });

/** The items of a part that have a mistake. @param {Part} part @returns {Promise<Trouble[]>} */
async function troubleOf(part) {
  const items = await patient(() => api.all(`/imports/${part.id}/items`, {}));
  return items.filter((i) => i.error).map((i) => ({ row: rowOf(i), state: i.state, message: messageOf(i) }));
}

/** @param {any} item */
const rowOf = (item) => Number(item.clientId.replace("row-", ""));

/** @param {any} item */
const messageOf = ({ error }) =>
  !error ? "" : error.details?.length ? error.details.map((d) => (d.path ? d.path.slice(1).replaceAll("/", ".") + ": " : "") + d.message).join("; ") : error.message;

/**
 * Tries all parts without making any link.
 * @param {string} appId
 * @param {{name: string, format: string, rows: number, parts: import("./importing.js").Part[], tooLarge: number[]}} file
 * @param {(n: number) => void} progress
 * @param {AbortSignal} signal
 * @returns {Promise<Run>}
 */
export async function check(appId, file, progress, signal) {
  /** @type {Run} */
  const run = { name: file.name, rows: file.rows, started: false, parts: [], trouble: [], tooLarge: file.tooLarge };
  let done = 0;
  await each(file.parts, atATime, async ({ first, rows, content }, i) => {
    const made = await patient((key) => api.post("/imports", { appId, format: file.format, content }, { key, signal }), signal);
    const job = await patient((key) => api.post(`/imports/${made.id}/validate`, {}, { key, signal }), signal);
    run.parts[i] = take({ id: made.id, first, rows, state: "", invalid: 0, succeeded: 0, failed: 0 }, job);
    if (job.invalid && run.trouble.length < shown) run.trouble.push(...(await troubleOf(run.parts[i])));
    progress((done += rows));
  });
  run.trouble = run.trouble.sort((a, b) => a.row - b.row).slice(0, shown);
  return run;
}

/** The imports that are being committed in this tab. @type {Set<string>} */
const going = new Set();

/**
 * Commits the parts that are not committed, and follows all of them to their ends.
 * @param {string} appId
 * @param {Run} run is changed as it gets on
 * @param {(run: Run) => void} changed
 */
export async function commit(appId, run, changed) {
  if (going.has(appId)) return;
  going.add(appId);
  run.started = true;
  const save = () => {
    keep(appId, run);
    changed({ ...run });
  };
  try {
    save();
    await each(run.parts, atATime, (part) => (over(part) ? Promise.resolve() : finish(part, save)));
    for (const part of run.parts) {
      if (run.trouble.length >= shown) break;
      if (part.failed) run.trouble.push(...(await troubleOf(part)).filter((t) => t.state === "failed"));
    }
    run.trouble = run.trouble.sort((a, b) => a.row - b.row).slice(0, shown);
    save();
  } finally {
    going.delete(appId);
  }
}

/** @param {Part} part @param {() => void} save */
async function finish(part, save) {
  for (let wait = 300, refused = 0; ; ) {
    let job;
    try {
      job = await patient(() => api.get("/imports/" + part.id));
    } catch (err) {
      if (!(err instanceof api.Refusal && err.status === 404)) throw err;
      part.state = "gone"; // a check is kept for a day
      return save();
    }
    take(part, job);
    if (job.state === "validated" && job.invalid === job.total) part.state = "nothing";
    save();
    if (over(part)) return;
    if (job.state === "validated") {
      try {
        await api.post(`/imports/${part.id}/commit`, {}, { revision: job.revision });
        continue;
      } catch (err) {
        // Somebody else may have committed it, or too much goes on: its state tells.
        const again = err instanceof api.Lost || (err instanceof api.Refusal && [409, 412, 429, 503].includes(err.status) && (err.status > 412 || ++refused < 5));
        if (!again) throw err;
        wait = Math.max(wait, (/** @type {any} */ (err).retryAfter ?? 1) * 1000);
      }
    }
    await api.pause(wait);
    wait = Math.min(wait * 1.3, 4000);
  }
}

/**
 * What became of each row.
 * @param {Run} run
 * @returns {Promise<{row: number, state: string, address: string, destination: string, linkId: string, message: string}[]>}
 */
export async function report(run) {
  const rows = run.tooLarge.map((row) => ({ row, state: "invalid", address: "", destination: "", linkId: "", message: "too large" }));
  for (const part of run.parts) {
    const items = await patient(() => api.all(`/imports/${part.id}/items`, {})).catch((err) => {
      if (err instanceof api.Refusal && err.status === 404) return [];
      throw err;
    });
    for (const i of items) {
      const { domain = "", prefix = "", slug = "", desktopUrl } = i.input ?? {};
      rows.push({ row: rowOf(i), state: i.state, address: [domain, prefix, slug].filter(Boolean).join("/"), destination: desktopUrl ?? "", linkId: i.result?.linkId ?? "", message: messageOf(i) });
    }
  }
  return rows.sort((a, b) => a.row - b.row);
}
