// What a refusal means for the owner, in the owner's language.

import { Lost, Refusal } from "./api.js";
import { w } from "./words.js";

/** What is wrong with a field. Messages of the API are in English and say more than a code. @param {import("./api.js").Detail} d */
export function explain(d) {
  const known = /** @type {Record<string, string>} */ (w.wrong)[d.code];
  return w.code === "en" ? d.message : (known ?? d.message);
}

/** What happened. @param {any} err */
export function tell(err) {
  if (err instanceof Lost) return w.refused.lost;
  if (!(err instanceof Refusal)) return w.refused.internal_error;
  if (err.dependencies.length) return w.refused.needed;
  const known = /** @type {Record<string, string>} */ (w.refused)[err.code];
  // Without details, the message of the API says more than its code.
  if (w.code === "en" && ["resource_conflict", "validation_failed", "invalid_request"].includes(err.code) && !err.details.length) return err.message;
  return known ?? err.message;
}

/** Whether somebody else changed the resource meanwhile. @param {any} err */
export const overtaken = (err) => err instanceof Refusal && err.code === "revision_conflict";

/** Whether a resource is not there, or not the owner's. @param {any} err */
export const missing = (err) => err instanceof Refusal && err.code === "not_found";
