// The client of the public API. The cookie of the browser's session goes along by itself.

/**
 * @typedef {{path: string, code: string, message: string}} Detail
 * @typedef {{query?: Record<string, any>, body?: any, revision?: string, key?: string, signal?: AbortSignal}} Options
 */

/** What the API answers when it refuses. */
export class Refusal extends Error {
  /** @param {number} status @param {any} error @param {string | null} retryAfter */
  constructor(status, error, retryAfter) {
    super(error.message);
    this.status = status;
    /** @type {string} */
    this.code = error.code;
    /** @type {Detail[]} */
    this.details = error.details ?? [];
    /** @type {{type: string, count: number, ids: string[]}[]} */
    this.dependencies = error.dependencies ?? [];
    /** @type {string} */
    this.requestId = error.requestId;
    this.retryAfter = Number(retryAfter) || 0;
  }
}

/** The server cannot be reached. */
export class Lost extends Error {}

/** What to do when the session is over. @type {{signOut: () => void}} */
export const session = { signOut: () => {} };

const tries = 4;

/**
 * The keys of mutations that got no answer, by what they are: whether they happened is not known. The same
 * mutation made again has the same key, so that it happens once.
 * @type {Map<string, string>}
 */
const unanswered = new Map();

/** @param {number} ms @param {AbortSignal} [signal] */
export const pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

/** @param {string} path @param {Record<string, any>} [query] */
export function address(path, query = {}) {
  const kept = Object.entries(query).filter(([, v]) => v !== "" && v != null);
  const text = new URLSearchParams(kept).toString();
  return "/v1" + path + (text && "?" + text);
}

/**
 * Makes a call. While the server cannot be reached, it is tried again for some seconds: a mutation
 * with the same Idempotency-Key, so that it happens once.
 * @param {string} method
 * @param {string} url below the origin
 * @param {Options} options
 * @returns {Promise<Response>}
 */
async function send(method, url, { body, revision, key: given, signal }) {
  /** @type {Record<string, string>} */
  const headers = {};
  const form = body instanceof FormData;
  const intent = [method, url, revision, JSON.stringify(body)].join(" ");
  const key = given ?? ((!form && unanswered.get(intent)) || crypto.randomUUID());
  if (method !== "GET") {
    headers["Idempotency-Key"] = key;
    unanswered.set(intent, key);
  }
  if (revision) headers["If-Match"] = `"${revision}"`;
  if (body !== undefined && !form) headers["Content-Type"] = "application/json";
  for (let n = 1; ; n++) {
    try {
      const r = await fetch(url, { method, headers, signal, body: body === undefined || form ? body : JSON.stringify(body) });
      if (r.ok) {
        unanswered.delete(intent);
        return r;
      }
      const refusal = await refusalOf(r);
      const wait = refusal.retryAfter;
      const passing = r.status === 503 || r.status === 429 || refusal.code === "operation_in_progress";
      if (n === tries || !passing || wait > 5) {
        if (r.status === 401 && url.startsWith("/v1/")) session.signOut();
        throw refusal;
      }
      await pause(Math.max(wait, n / 2) * 1000, signal);
    } catch (err) {
      if (!(err instanceof TypeError)) {
        if (!(err instanceof Refusal && err.status >= 500)) unanswered.delete(intent);
        throw err;
      }
      if (n === tries) throw new Lost("no connection");
      await pause(500 * 2 ** n, signal);
    }
  }
}

/** @param {Response} r */
async function refusalOf(r) {
  const retry = r.headers.get("Retry-After");
  try {
    return new Refusal(r.status, (await r.json()).error, retry);
  } catch {
    return new Refusal(r.status, { code: "internal_error", message: `${r.status} ${r.statusText}` }, retry);
  }
}

/** @param {string} method @param {string} url @param {Options} o */
async function json(method, url, o) {
  const r = await send(method, url, o);
  return r.status === 204 ? null : r.json();
}

/** Reads a resource. @param {string} path @param {Record<string, any>} [query] @param {AbortSignal} [signal] @returns {Promise<any>} */
export const get = async (path, query, signal) => (await json("GET", address(path, query), { signal })).data;

/** Reads a page of a list. @param {string} path @param {Record<string, any>} query @param {AbortSignal} [signal] @returns {Promise<{data: any[], pagination: {hasMore: boolean, nextCursor: string | null}}>} */
export const page = (path, query, signal) => json("GET", address(path, query), { signal });

/** Reads a file. @param {string} path @param {Record<string, any>} [query] @param {AbortSignal} [signal] */
export const file = async (path, query, signal) => (await send("GET", address(path, query), { signal })).blob();

/**
 * Reads all pages of a list that is short by nature, such as tags: at most some hundreds.
 * @param {string} path @param {Record<string, any>} query @param {AbortSignal} [signal]
 */
export async function all(path, query, signal) {
  const rows = [];
  for (let cursor; rows.length < 1000; ) {
    const { data, pagination } = await page(path, { ...query, limit: 100, cursor }, signal);
    rows.push(...data);
    if (!pagination.hasMore) break;
    cursor = pagination.nextCursor;
  }
  return rows;
}

/** @param {string} method @returns {(path: string, body?: any, o?: Options) => Promise<any>} */
const mutation = (method) => async (path, body, o = {}) => (await json(method, address(path, o.query), { ...o, body }))?.data;

export const post = mutation("POST");
export const patch = mutation("PATCH");
export const put = mutation("PUT");
/** @param {string} path @param {string} [revision] */
export const remove = (path, revision) => mutation("DELETE")(path, undefined, { revision });

/** Calls of signing in, which are beside the API. @param {string} method @param {string} path @param {any} [body] */
export const auth = async (method, path, body) => (await json(method, "/auth" + path, { body }))?.data;

/** What is named in an address. @param {string} id */
export const seg = encodeURIComponent;
