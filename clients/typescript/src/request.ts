import type { Route } from "./operations.js";

/** What all operations take, as the caller gives it. */
export type Given = Readonly<Record<string, unknown>>;

/** One request, which can be sent again. */
export interface Request {
  method: string;
  /** The path with its query, below the address of the API. */
  path: string;
  headers: Headers;
  body: string | FormData | undefined;
}

/** Makes the request of a call. What is no part of the path, no body and no revision is in the query. */
export function request([method, template, kind]: Route, { body, revision, ...rest }: Given): Request {
  const query = new URLSearchParams();
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, rest[name]));
  for (const [name, value] of Object.entries(rest)) {
    if (value !== undefined && !template.includes(`{${name}}`)) query.set(name, String(value));
  }
  const headers = new Headers();
  if (revision !== undefined) headers.set("If-Match", `"${revision}"`);
  if (body !== undefined && kind !== "form") headers.set("Content-Type", "application/json");
  return {
    method,
    path: query.size > 0 ? `${path}?${query}` : path,
    headers,
    body: body === undefined ? undefined : kind === "form" ? form(body as Given) : JSON.stringify(body),
  };
}

// segment returns a value for a path. An address would lose a value of dots, and be another operation's.
function segment(name: string, value: unknown): string {
  const text = String(value ?? "");
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`${name} is ${JSON.stringify(value)}, which is no id`);
  return encodeURIComponent(text);
}

function form(body: Given): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (value !== undefined) form.set(name, value instanceof Blob ? value : String(value));
  }
  return form;
}
