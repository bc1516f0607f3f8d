import { createHmac, timingSafeEqual } from "node:crypto";

// How far the clocks may be apart, and how old a copy may be.
const toleranceSeconds = 300;

// verify tells whether header, the Service-Signature of a request, signs its
// raw body (a Buffer) with secret. During a rotation try the old and the new
// secret.
export function verify(secret, header, body, now = Date.now()) {
  const [first, ...others] = header.split(",");
  const timestamp = /^t=([0-9]{10,12})$/.exec(first)?.[1];
  if (!timestamp || Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds) return false;
  const want = createHmac("sha256", secret).update(timestamp + ".").update(body).digest();
  return others.some((part) => {
    const hex = /^v1=([0-9a-f]{64})$/.exec(part)?.[1];
    return hex !== undefined && timingSafeEqual(Buffer.from(hex, "hex"), want);
  });
}
