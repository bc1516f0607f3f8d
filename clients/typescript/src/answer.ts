import { WaymarkError } from "./errors.js";
import type { Schemas } from "./operations.js";

// The largest answer of the contract is an image of 10 MiB.
const maxAnswer = 32 << 20;

/** Whether a list goes on, and with which cursor. */
export type Pagination = Schemas["Pagination"];

/** What an operation answered. */
export interface Answer<Data> {
  /** What the contract has as `data`; a Blob where the answer is a file; undefined where there is no body. */
  readonly data: Data;
  /** The status of HTTP. */
  readonly status: number;
  /** The headers, such as Location. */
  readonly headers: Headers;
  /** The id by which the log of the server has the request. */
  readonly requestId: string;
  /** The revision of the resource, for the next change of it; undefined when the answer has none. */
  readonly revision: string | undefined;
  /** Whether this is the answer of an earlier call with the same key. */
  readonly replayed: boolean;
  /** Where the answer is a page of a list: whether more follow. */
  readonly pagination: Pagination | undefined;
}

/** Reads the whole body, up to its bound. */
export async function read(response: Response): Promise<Blob> {
  const parts: BlobPart[] = [];
  let size = 0;
  for (const reader = response.body?.getReader(); reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > maxAnswer) {
      await reader.cancel();
      throw new RangeError(`the answer is larger than ${maxAnswer >> 20} MiB`);
    }
    parts.push(value as Uint8Array<ArrayBuffer>);
  }
  return new Blob(parts, { type: response.headers.get("Content-Type") ?? "" });
}

/** Makes the answer of what was received for a request with a key. Where that is a file, it has no envelope. */
export async function answer(response: Response, target: string, body: Blob, isFile: boolean, key: string | undefined): Promise<Answer<unknown>> {
  const { headers, ok, status } = response;
  const envelope = ok && isFile ? undefined : await json(body);
  if (!ok || !(isFile || status === 204 || envelope?.meta)) throw new WaymarkError(response, target, envelope?.error, key);
  return {
    data: isFile ? body : envelope?.data,
    status,
    headers,
    requestId: headers.get("X-Request-Id") ?? "",
    // A proxy that compresses answers has marked their ETag as weak, which If-Match must not be.
    revision: headers.get("ETag")?.replace(/^W\//, "").replaceAll('"', ""),
    replayed: headers.get("Idempotency-Replayed") === "true",
    pagination: envelope?.pagination,
  };
}

// What a body in JSON may have.
type Envelope = Partial<Schemas["ErrorResponse"] & { data: unknown; meta: unknown; pagination: Pagination }>;

// json returns the object in a body; undefined when it is none.
async function json(body: Blob): Promise<Envelope | null | undefined> {
  try {
    return JSON.parse(await body.text());
  } catch {
    return undefined;
  }
}
