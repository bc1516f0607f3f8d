import type { Schemas } from "./operations.js";

// The header has 210 characters while a secret is being rotated, so a longer one is not from Waymark and costs no work.
const maxHeader = 1_000;

/** What a webhook tells: which resource changed, and how. Ignore types that you do not know. */
export type WebhookEvent = Schemas["WebhookEvent"];

/** The headers of a request: those of fetch, or an object, as Node.js has it. */
export type WebhookHeaders = Pick<Headers, "get"> | Readonly<Record<string, string | readonly string[] | undefined>>;

/** How strict a verification is. Times are in milliseconds. */
export interface VerifyOptions {
  /** How far the clocks may be apart, and how old a copy may be; 300,000 unless set. */
  tolerance?: number;
  /** What time it is; Date.now() unless set. */
  now?: number;
}

/** A request is not signed by Waymark with one of the secrets, or it is too old. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
}

/**
 * Returns the event in a request of a webhook, whose body is as it came and not parsed. It fails with a SignatureError
 * unless one of the secrets signed it. Give the old secret and the new one while a secret is being rotated.
 */
export async function verify(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { tolerance = 300_000, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const raw = typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body);
  const { timestamp, signatures } = parse(header(headers));
  if (Math.abs(now - Number(timestamp) * 1000) > tolerance) throw new SignatureError("the signature is too old, or the clocks are apart");
  const signed = new Uint8Array(timestamp.length + 1 + raw.length);
  signed.set(new TextEncoder().encode(timestamp + "."));
  signed.set(raw, timestamp.length + 1);
  for (const secret of [secrets].flat()) {
    const key = await importKey(secret);
    for (const signature of signatures) {
      // Compares in constant time.
      if (await crypto.subtle.verify("HMAC", key, signature, signed)) return JSON.parse(new TextDecoder().decode(raw));
    }
  }
  throw new SignatureError("no secret fits the signature");
}

function importKey(secret: string): Promise<CryptoKey> {
  // Whoever knows that a secret is empty can sign.
  if (!secret) throw new TypeError("a secret is empty");
  return crypto.subtle.importKey("raw", new TextEncoder().encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function header(headers: WebhookHeaders): string {
  const value = isHeaders(headers)
    ? headers.get("Service-Signature")
    : Object.entries(headers).find(([name]) => name.toLowerCase() === "service-signature")?.[1];
  const [first, ...others] = [value].flat();
  if (!first || others.length > 0) throw new SignatureError("the request does not have one header Service-Signature");
  return first;
}

const isHeaders = (headers: WebhookHeaders): headers is Pick<Headers, "get"> => typeof headers["get"] === "function";

// parse reads t=<seconds>,v1=<hex>,v1=<hex>. Schemes of later versions are left alone.
function parse(header: string): { timestamp: string; signatures: Uint8Array<ArrayBuffer>[] } {
  const [first = "", ...others] = header.length > maxHeader ? [] : header.split(",");
  const timestamp = /^t=([0-9]{10,12})$/.exec(first)?.[1];
  if (!timestamp) throw new SignatureError("the header Service-Signature has another form");
  const signatures = others.flatMap((part) => {
    const hex = /^v1=([0-9a-f]{64})$/.exec(part)?.[1];
    return hex ? [Uint8Array.from(hex.match(/../g)!, (byte) => parseInt(byte, 16))] : [];
  });
  return { timestamp, signatures };
}
