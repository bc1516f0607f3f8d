// Long work: it waits where the API asks for a pause or cannot be reached, instead of giving up.

import * as api from "./api.js";

const lostMs = 4000;

/**
 * Does something, again and again while the answer is "later". The key names the intent, so that
 * a repetition does not do it twice.
 * @template T
 * @param {(key: string) => Promise<T>} run
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
export async function patient(run, signal) {
  const key = crypto.randomUUID();
  for (;;) {
    try {
      return await run(key);
    } catch (err) {
      const later = err instanceof api.Refusal && (err.status === 429 || err.status === 503);
      if (!later && !(err instanceof api.Lost)) throw err;
      await api.pause(later ? Math.max(1, err.retryAfter) * 1000 : lostMs, signal);
    }
  }
}

/**
 * Does something with each of several, a few at a time.
 * @template T
 * @param {T[]} items
 * @param {number} at how many at a time
 * @param {(item: T, i: number) => Promise<void>} run
 */
export async function each(items, at, run) {
  let next = 0;
  let stopped = false;
  const worker = async () => {
    while (next < items.length && !stopped) {
      const i = next++;
      await run(items[i], i).catch((err) => {
        stopped = true;
        throw err;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(at, items.length) }, worker));
}
