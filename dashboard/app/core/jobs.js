// What goes on after a call is answered: operations of domains, batches, imports, exports and
// publications. They are followed wherever the owner goes, also after the page was loaded again.

import { signal } from "./ui.js";
import * as api from "./api.js";

const kept = "waymark.jobs";
const most = 20;

/**
 * @typedef {{id: string, title: string, to: string, appId: string, status: string, done?: number, total?: number,
 *   failed?: number, error?: string}} Job
 */

/** @type {{value: Job[]}} */
export const jobs = signal(JSON.parse(sessionStorage.getItem(kept) ?? "[]"));

/** @param {Job[]} list */
function keep(list) {
  jobs.value = list.slice(-most);
  sessionStorage.setItem(kept, JSON.stringify(jobs.value));
}

/** @param {Job} job */
export const over = (job) => ["succeeded", "partially_succeeded", "failed", "cancelled"].includes(job.status);

/** @type {Set<string>} */
const followed = new Set();

/**
 * Follows an operation to its end.
 * @param {string} id of the operation
 * @param {{title: string, to: string, appId: string, total?: number}} about
 * @returns {Promise<any>} the operation
 */
export async function follow(id, about) {
  if (!jobs.value.some((j) => j.id === id)) keep([...jobs.value, { id, ...about, status: "queued" }]);
  followed.add(id);
  for (let wait = 300; ; wait = Math.min(wait * 1.4, 4000)) {
    const o = await api.get("/operations/" + id).catch((err) => {
      if (err instanceof api.Lost || err.status >= 500) return null;
      forget(id);
      throw err;
    });
    if (o) {
      const { succeeded = 0, failed = 0 } = o.result ?? {};
      keep(jobs.value.map((j) => (j.id === id ? { ...j, status: o.status, done: succeeded + failed, failed, error: o.error?.message } : j)));
      if (o.status === "succeeded") setTimeout(() => forget(id), 4000);
      if (over(o)) return o;
    }
    await api.pause(wait);
  }
}

/** Asks an operation to stop. What is done by then stays done. @param {string} id */
export async function cancel(id) {
  const { revision } = await api.get("/operations/" + id);
  await api.post(`/operations/${id}/cancel`, {}, { revision });
}

/** Goes on with what was followed before the page was loaded again. */
export function resume() {
  for (const j of jobs.value) if (!over(j) && !followed.has(j.id)) follow(j.id, j).catch(() => {});
}

/** Nothing is followed for somebody who is not signed in any more. */
export const forgetAll = () => keep([]);

/** @param {string} id */
export const forget = (id) => keep(jobs.value.filter((j) => j.id !== id));
