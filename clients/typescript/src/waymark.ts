import { answer, read, type Answer } from "./answer.js";
import { LostError, WaymarkError } from "./errors.js";
import { operations } from "./operations.js";
import { request, type Given, type Request } from "./request.js";
import { patiently } from "./retry.js";
import type { CsvArgs, Data, Input, Item, ListId, OperationId, PageId } from "./types.js";

/** How a client calls. All times are in milliseconds. */
export interface Options {
  /** The address of the API listener, such as https://waymark.example.com. */
  server: string;
  /** An API key, or the token of a session. */
  token: string;
  /** For how long one call is repeated while the server cannot be reached or asks to wait; 10,000 unless set, 0 for never. */
  patience?: number;
  /** How long one request may take, its answer included; 60,000 unless set. */
  timeout?: number;
  /** Names the program in the User-Agent header. Leave it out in a browser, which sends its own. */
  agent?: string;
  /** Is called before each pause, with its length and its reason. */
  waiting?: (pause: number, reason: WaymarkError | LostError) => void;
  /** Makes the requests; the `fetch` of the runtime unless set. */
  fetch?: typeof fetch;
}

/** What one call may have besides its arguments. */
export interface CallOptions {
  /** The Idempotency-Key of a mutation, a UUID v4; a new one unless set. The same call with the same key has one effect. */
  key?: string;
  /** Ends the call, which then fails with the reason of the signal. */
  signal?: AbortSignal;
  /** For how long this call is repeated, in milliseconds. */
  patience?: number;
  /** How long one request of this call may take, in milliseconds. */
  timeout?: number;
}

/** Calls one installation of Waymark with one credential. */
export class Waymark {
  readonly #base: string;
  // Private, so that a client that is logged shows no credential.
  readonly #token: string;
  readonly #options: Options;

  /** Makes a client. It makes no call yet. */
  constructor(options: Options) {
    this.#base = base(options.server);
    // A header with it would be refused by a message that shows it.
    if (!/^[\x21-\x7e]+$/.test(options.token)) {
      throw new TypeError("the token is empty or has characters that no credential has: copy it again");
    }
    this.#token = options.token;
    this.#options = options;
  }

  /** Makes one call, whose answer is a file: the items of an import as CSV. */
  call(id: "getImportsImportIdItems", args: CsvArgs, options?: CallOptions): Promise<Answer<Blob>>;
  /**
   * Makes one call, and repeats it while it may succeed later. It fails with a WaymarkError when the server refused, and
   * with a LostError when no answer came.
   */
  call<Id extends OperationId>(id: Id, ...input: Input<Id, CallOptions>): Promise<Answer<Data<Id>>>;
  async call(id: OperationId, args?: Given, options?: CallOptions): Promise<Answer<unknown>> {
    return this.#call(id, args, options);
  }

  /**
   * Reads a list page by page, from its first page or from the cursor in the arguments. It holds one page at a time, and
   * ends with the last page or the first error.
   */
  async *pages<Id extends PageId>(id: Id, ...[args, options]: Input<Id, CallOptions>): AsyncGenerator<Answer<Data<Id>>, void, undefined> {
    for (let given: Given = { ...args }; ; ) {
      const page = (await this.#call(id, given, options)) as Answer<Data<Id>>;
      yield page;
      const { hasMore, nextCursor } = page.pagination ?? {};
      if (!hasMore) return;
      if (nextCursor === given["cursor"]) throw new Error("the server answers a page that leads to itself");
      given = { ...given, cursor: nextCursor };
    }
  }

  /** Reads a list item by item, and its pages as they are needed. */
  async *items<Id extends ListId>(id: Id, ...input: Input<Id, CallOptions>): AsyncGenerator<Item<Id>, void, undefined> {
    for await (const page of this.pages(id, ...input)) yield* page.data as Item<Id>[];
  }

  async #call(id: OperationId, args: Given = {}, options: CallOptions = {}): Promise<Answer<unknown>> {
    const route = operations[id];
    if (!route) throw new TypeError(`there is no operation ${id}`);
    const r = request(route, args);
    r.headers.set("Authorization", `Bearer ${this.#token}`);
    if (this.#options.agent) r.headers.set("User-Agent", this.#options.agent);
    const key = r.method === "GET" ? undefined : (options.key ?? crypto.randomUUID());
    if (key) r.headers.set("Idempotency-Key", key);
    const isFile = route[2] === "file" || args["format"] === "csv";
    const target = this.#base + r.path;
    const once = async () => {
      const { response, content } = await this.#send(target, r, key, options);
      return answer(response, target, content, isFile, key);
    };
    return patiently(once, {
      patience: options.patience ?? this.#options.patience ?? 10_000,
      signal: options.signal,
      waiting: this.#options.waiting,
    });
  }

  // send sends the request once, and reads what is answered.
  async #send(target: string, { method, headers, body }: Request, key: string | undefined, { signal, timeout }: CallOptions) {
    signal?.throwIfAborted();
    const limit = timeout ?? this.#options.timeout ?? 60_000;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new DOMException(`it took longer than ${limit} ms`, "TimeoutError")), limit);
    const leave = () => stop.abort(signal?.reason);
    signal?.addEventListener("abort", leave);
    try {
      // A redirect could change the method, or take the credential to another host.
      const init: RequestInit = { method, headers, redirect: "manual", signal: stop.signal, ...(body && { body }) };
      const response = await (this.#options.fetch ?? fetch)(target, init);
      return { response, content: await read(response) };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof RangeError) throw error;
      throw new LostError(error, key);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", leave);
    }
  }
}

// base returns the address of the operations. The address of the server may name them.
function base(server: string): string {
  let url: URL | undefined;
  try {
    url = new URL(server);
  } catch {}
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password) {
    throw new TypeError("the server is not an address such as https://waymark.example.com");
  }
  return url.href.replace(/\/+$/, "").replace(/\/v1$/, "") + "/v1";
}
