// A webhook is sent to for as long as who authorized it may do so. A session ends within hours, so
// each webhook gets an API key of its own, whose secret is used once and never shown or kept.

import * as api from "./api.js";
import { w } from "./words.js";

const permissions = ["webhooks:create", "webhooks:read", "webhooks:update"];
const dayMs = 86400000;
const tries = 3;

/** The host of an address. @param {string} url */
export function hostOf(url) {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

/**
 * Calls whose answers did not come, by what they are: the same call made again has the same key and
 * the same intent, so that it happens once.
 * @type {Map<string, {key: any, secret: string, intent: string}>}
 */
const unanswered = new Map();

/**
 * Makes a call with a new key instead of the session. A key whose call is refused is revoked.
 * @param {string} method
 * @param {string} path
 * @param {any} body
 * @param {{appId: string, url: string, revision?: string}} about
 * @returns {Promise<any>}
 */
export async function withKey(method, path, body, { appId, url, revision }) {
  const what = JSON.stringify([method, path, body, revision]);
  if (!unanswered.has(what)) {
    const made = await api.post("/api-keys", {
      name: w.webhooks.key(hostOf(url)).slice(0, 100), appIds: [appId], permissions, expiresAt: new Date(Date.now() + 365 * dayMs - dayMs / 24).toISOString(),
    });
    unanswered.set(what, { ...made, intent: crypto.randomUUID() });
  }
  const { key, secret, intent } = /** @type {any} */ (unanswered.get(what));
  const headers = { Authorization: "Bearer " + secret, "Content-Type": "application/json", "Idempotency-Key": intent, ...(revision && { "If-Match": `"${revision}"` }) };
  for (let n = 1; ; n++) {
    let r;
    try {
      r = await fetch(api.address(path), { method, headers, credentials: "omit", body: JSON.stringify(body) });
    } catch {
      if (n === tries) throw new api.Lost("no connection");
    }
    const answer = await r?.json().catch(() => ({}));
    if (r?.ok) {
      unanswered.delete(what);
      return answer.data;
    }
    const passing = !r || r.status >= 500 || r.status === 429;
    if (r && (!passing || n === tries)) {
      // Whether a call happened that failed inside the server is not known: its key stays.
      if (r.status < 500) {
        unanswered.delete(what);
        await api.remove("/api-keys/" + key.id, key.revision).catch(() => {});
      }
      throw new api.Refusal(r.status, answer.error ?? { code: "internal_error", message: String(r.status) }, r.headers.get("Retry-After"));
    }
    await api.pause(1000 * n);
  }
}

/** Revokes the key of a webhook that no longer needs it, if it was made for that alone. @param {{type: string, id: string}} by */
export async function retire(by) {
  if (by.type !== "api_key") return;
  const key = await api.get("/api-keys/" + by.id);
  const ours = key.name.startsWith(w.webhooks.key("")) && String([...key.permissions].sort()) === String(permissions);
  if (ours && !key.revokedAt) await api.remove("/api-keys/" + key.id, key.revision);
}
