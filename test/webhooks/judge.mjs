// Reads cases from its input and writes what each verifier says of them.
import { readFileSync } from "node:fs";
import Stripe from "stripe";
import { verify } from "./verify.mjs";

function stripe({ secret, header, body, now }) {
  try {
    return Stripe.webhooks.constructEvent(Buffer.from(body), header, secret, 300, undefined, now).id === JSON.parse(body).id;
  } catch {
    return false;
  }
}

const cases = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map((c) => ({
  ours: verify(c.secret, c.header, Buffer.from(c.body), c.now),
  stripe: stripe(c),
}))));
