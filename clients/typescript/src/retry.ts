import { LostError, WaymarkError } from "./errors.js";

// The pauses between repetitions where the server does not say how long to wait, in milliseconds.
const firstPause = 200;
const longPause = 5_000;

/** How long a call is repeated, and who is told. */
export interface Patience {
  /** For how long, in milliseconds. */
  patience: number;
  /** Ends the waiting. */
  signal: AbortSignal | undefined;
  /** Is called before each pause. */
  waiting: ((pause: number, reason: WaymarkError | LostError) => void) | undefined;
}

/** Repeats a call while it may succeed later and the patience lasts. */
export async function patiently<Result>(once: () => Promise<Result>, { patience, signal, waiting }: Patience): Promise<Result> {
  const began = performance.now();
  for (let pause = firstPause; ; pause = Math.min(2 * pause, longPause)) {
    try {
      return await once();
    } catch (error) {
      if (!passes(error)) throw error;
      // Several clients that were refused at the same instant come back at different ones.
      const jitter = Math.random() * pause;
      const wait = (retryAfter(error) || pause / 2) + jitter;
      if (performance.now() - began + wait > patience) throw error;
      waiting?.(wait, error);
      await sleep(wait, signal);
    }
  }
}

const retryAfter = (error: WaymarkError | LostError) => (error instanceof WaymarkError ? error.retryAfter : undefined);

// passes tells whether the same call may succeed later. Repeating it does no harm: reads change nothing, and
// mutations carry their key.
function passes(error: unknown): error is WaymarkError | LostError {
  if (error instanceof WaymarkError) {
    return [429, 502, 503, 504].includes(error.status) || error.code === "operation_in_progress";
  }
  return error instanceof LostError && !hopeless(error);
}

// hopeless tells whether a host does not exist, or is not the one that it should be. Not every runtime says so.
function hopeless({ cause }: LostError): boolean {
  const { code } = ((cause as Error | undefined)?.cause ?? {}) as { code?: unknown };
  return /^(ENOTFOUND|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_)/.test(String(code));
}

function sleep(time: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done, fail) => {
    if (signal?.aborted) return fail(signal.reason);
    const leave = () => {
      clearTimeout(timer);
      fail(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", leave);
      done();
    }, time);
    signal?.addEventListener("abort", leave, { once: true });
  });
}
