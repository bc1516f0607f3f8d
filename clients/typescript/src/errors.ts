import type { Schemas } from "./operations.js";

/** One part of the request that was refused. */
export type Detail = Schemas["ErrorDetail"];

/** What stands in the way of a change. */
export type Dependency = Schemas["ErrorDependency"];

/** A refusal of the server, or an answer that is not from Waymark. */
export class WaymarkError extends Error {
  override readonly name = "WaymarkError";
  /** The status of HTTP; 0 for a redirect in a browser, which does not tell it. */
  readonly status: number;
  /** The code of the contract; "" when the answer is not from Waymark, such as a proxy's. */
  readonly code: Schemas["Error"]["code"] | "";
  /** The id by which the log of the server has the request; "" when the answer is not from Waymark. */
  readonly requestId: string;
  /** Which parts of the request were refused. */
  readonly details: readonly Detail[];
  /** What depends on the resource, where that is why the change was refused. */
  readonly dependencies: readonly Dependency[];
  /** The resource that an earlier call with the same key made. */
  readonly resourceId: string | undefined;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfter: number | undefined;
  /**
   * The Idempotency-Key of a mutation that may have happened all the same, as the server failed (a status from 500 on): the same
   * call with the same key happens once. undefined otherwise.
   */
  readonly key: string | undefined;

  /** Makes the error of an answer that is no success. */
  constructor(response: Response, target: string, given: Schemas["Error"] | undefined, key: string | undefined) {
    const error = given?.code ? given : undefined;
    super(error ? `${error.message} (${error.code}, request ${error.requestId})` : strange(response, target));
    this.status = response.status;
    this.code = error?.code ?? "";
    this.requestId = error?.requestId ?? "";
    this.details = error?.details ?? [];
    this.dependencies = error?.dependencies ?? [];
    this.resourceId = error?.resource?.id;
    this.key = response.status >= 500 ? key : undefined;
    const seconds = response.headers.get("Retry-After") ?? "";
    this.retryAfter = /^\d+$/.test(seconds) ? Number(seconds) * 1000 : undefined;
  }
}

/** No whole answer came. A mutation may have happened: the same call with the same key happens once. */
export class LostError extends Error {
  override readonly name = "LostError";
  /** The Idempotency-Key of the mutation; undefined for a read. */
  readonly key: string | undefined;

  /** Makes the error of a request that failed. */
  constructor(cause: unknown, key: string | undefined) {
    super(`no answer from the server: ${reason(cause)}`, { cause });
    this.key = key;
  }
}

// reason returns the innermost message: fetch says only that it failed, and keeps why in the cause.
function reason(error: unknown): string {
  return error instanceof Error ? (error.cause ? reason(error.cause) : error.message) : String(error);
}

function strange(response: Response, target: string): string {
  if (response.type === "opaqueredirect") return `${target} redirects: give the server to which it leads instead`;
  const to = response.headers.get("Location");
  if (to && response.status < 400) return `${target} redirects to ${to}: give that server instead`;
  return `${target} answers ${response.status} ${response.statusText}`.trimEnd() + ", which is no answer of Waymark";
}
