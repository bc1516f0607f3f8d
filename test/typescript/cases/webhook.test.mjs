// Requests that the server sent are verified, and nothing else is.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { SignatureError, verify } from "@waymarkhq/client";
import { deliver, owner } from "./setup.mjs";

let single, double, old, fresh, appId, now;

before(async () => {
  const session = await owner();
  appId = session.appId;
  const { waymark } = session;
  const made = await waymark.call("createWebhooks", { body: { appId, url: "https://example.com/hook", events: ["link.created"] } });
  const { webhook, secret } = made.data;
  old = secret;
  single = await deliver(waymark, webhook);
  const args = { webhookId: webhook.id, revision: webhook.revision, body: { overlapSeconds: 3600 } };
  fresh = (await waymark.call("rotateSecretWebhooksWebhookId", args)).data.secret;
  double = await deliver(waymark, webhook);
  now = Number(/^t=(\d+)/.exec(single.headers["Service-Signature"])[1]) * 1000;
});

const refused = (promise, message) => assert.rejects(promise, (error) => error instanceof SignatureError && message.test(error.message));

test("what the server sends is verified, and is an event", async () => {
  const event = await verify(single.body, single.headers, old);
  assert.equal(event.type, "webhook.test");
  assert.equal(event.test, true);
  assert.equal(event.appId, appId);
  assert.equal(event.id, single.headers["Service-Event-Id"]);
  const bytes = new TextEncoder().encode(single.body);
  for (const body of [bytes, bytes.buffer, Buffer.from(single.body)]) assert.equal((await verify(body, single.headers, old)).id, event.id);
});

test("headers are those of fetch, of Node.js, or in any case", async () => {
  const signature = single.headers["Service-Signature"];
  for (const headers of [new Headers(single.headers), { "service-signature": signature }, { "SERVICE-SIGNATURE": [signature] }]) {
    assert.equal((await verify(single.body, headers, old)).type, "webhook.test");
  }
  for (const headers of [{}, new Headers(), { "service-signature": [signature, signature] }, { "service-signature": "" }]) {
    await refused(verify(single.body, headers, old), /one header Service-Signature/);
  }
});

test("both secrets hold while one is being rotated", async () => {
  assert.equal(double.headers["Service-Signature"].split("v1=").length, 3);
  for (const secrets of [old, fresh, [old, fresh], ["whsec_other", old], ["whsec_other", fresh]]) {
    assert.equal((await verify(double.body, double.headers, secrets)).type, "webhook.test");
  }
  await refused(verify(single.body, single.headers, fresh), /no secret fits/);
  assert.equal((await verify(single.body, single.headers, [fresh, old])).type, "webhook.test");
});

test("what was changed or signed by another is refused", async () => {
  const { body, headers } = single;
  for (const [changed, secrets] of [
    [body.replace("true", "false"), old],
    [body + " ", old],
    ["", old],
    [body, "whsec_other"],
    [body, old.replace("whsec_", "")],
    [body, []],
  ]) {
    await refused(verify(changed, headers, secrets), /no secret fits/);
  }
  await assert.rejects(verify(body, headers, ""), TypeError);
  await assert.rejects(verify(body, headers, ["whsec_other", ""]), TypeError);
});

test("the clocks may be 300 seconds apart, either way", async () => {
  const at = (ms, more) => verify(single.body, single.headers, old, { now: now + ms, ...more });
  for (const ms of [0, 300_000, -300_000]) assert.equal((await at(ms)).type, "webhook.test");
  for (const ms of [300_001, -300_001]) await refused(at(ms), /too old/);
  for (const ms of [10_000, -10_000]) assert.equal((await at(ms, { tolerance: 10_000 })).type, "webhook.test");
  for (const ms of [10_001, -10_001]) await refused(at(ms, { tolerance: 10_000 }), /too old/);
});

test("a header of another form is refused", async () => {
  const [timestamp, signature] = single.headers["Service-Signature"].split(",");
  const judge = (header) => verify(single.body, { "service-signature": header }, old, { now });
  const unknown = ",v2=" + "x".repeat(1000 - timestamp.length - signature.length - 5);
  for (const header of [`${timestamp},v0=00,${signature},v2=xyz`, `${timestamp},v1=${"0".repeat(64)},${signature}`, timestamp + unknown + "," + signature]) {
    assert.equal((await judge(header)).type, "webhook.test", header);
  }
  for (const header of [",", signature, `x${timestamp},${signature}`, `t=now,${signature}`, `t=,${signature}`, `t=123456789,${signature}`, `t=${"1".repeat(13)},${signature}`,
    `${signature},${timestamp}`, `${timestamp}${unknown}x,${signature}`]) {
    await refused(judge(header), /another form/);
  }
  for (const header of [timestamp, timestamp + ",", timestamp + ",v1=", timestamp + "," + signature.slice(0, -1), timestamp + "," + signature + "0",
    timestamp + ",v1=" + signature.slice(3).toUpperCase(), timestamp + ",v1=" + "z".repeat(64), timestamp + "," + signature.replace("v1", "v0")]) {
    await refused(judge(header), /no secret fits/);
  }
});
