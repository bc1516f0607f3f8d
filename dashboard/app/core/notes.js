// Short notes at the edge of the screen, which a screen reader reads aloud.

import { signal } from "./ui.js";
import { tell } from "./refusals.js";

/** @typedef {{id: number, text: string, bad: boolean, action?: {label: string, run: () => void}}} Note */

export const notes = signal(/** @type {Note[]} */ ([]));
let last = 0;

/** @param {string} text @param {{bad?: boolean, action?: Note["action"]}} [o] */
export function note(text, { bad = false, action } = {}) {
  const id = ++last;
  notes.value = [...notes.value.slice(-2), { id, text, bad, action }];
  setTimeout(() => dismiss(id), bad || action ? 12000 : 5000);
}

/** @param {number} id */
export const dismiss = (id) => {
  notes.value = notes.value.filter((n) => n.id !== id);
};

/** Does something and tells when it is refused. @template T @param {() => Promise<T>} run @returns {Promise<T | undefined>} */
export async function attempt(run) {
  try {
    return await run();
  } catch (err) {
    note(tell(err), { bad: true });
  }
}
