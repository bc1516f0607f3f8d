// When a call is repeated, and when it ends. No test waits: the clock is the test's.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { LostError, Waymark, WaymarkError } from "@waymarkhq/client";

const done = () => Response.json({ data: { id: "1" }, meta: { requestId: "req_2" } }, { headers: { ETag: '"5f0a"' } });
const refuse = (status, code, headers) => Response.json({ error: { code, message: "No.", requestId: "req_1", documentationUrl: "" } }, { status, headers });
const lose = (code) => {
  throw new TypeError("fetch failed", { cause: Object.assign(new Error("it broke"), { code }) });
};

/** Returns a client of a server that is a function, and what was seen of it. A pause passes at once. */
function fake(t, handler, options) {
  let clock = 0;
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(performance, "now", () => clock);
  const seen = { keys: [], bodies: [], pauses: [], elapsed: () => clock, pass: (ms) => ((clock += ms), t.mock.timers.tick(Math.ceil(ms))) };
  const waiting = async (pause) => {
    seen.pauses.push(pause);
    await setImmediate();
    if (seen.asleep !== true) seen.pass(pause);
  };
  const answers = async (target, init) => {
    seen.keys.push(init.headers.get("Idempotency-Key"));
    seen.bodies.push(init.body);
    return handler(seen.keys.length, target, init);
  };
  return { seen, waymark: new Waymark({ server: "https://waymark.example", token: "svc_live_x", fetch: answers, waiting, ...options }) };
}

const tag = { body: { appId: "app_1", name: "a" } };

test("a mutation is repeated with the same key and body, and Retry-After is kept", async (t) => {
  const { waymark, seen } = fake(t, (n) =>
    n === 1 ? lose("ECONNRESET")
    : n === 2 ? refuse(503, "service_unavailable")
    : n === 3 ? refuse(429, "rate_limited", { "Retry-After": "3" })
    : n === 4 ? refuse(409, "operation_in_progress", { "Retry-After": "1" })
    : done());
  const { data, revision } = await waymark.call("createTags", tag);
  assert.deepEqual([data.id, revision], ["1", "5f0a"]);
  assert.equal(seen.keys.length, 5);
  assert.equal(new Set(seen.keys).size, 1);
  assert.deepEqual([...new Set(seen.bodies)], [JSON.stringify(tag.body)]);
  const between = [[100, 300], [200, 600], [3000, 3800], [1000, 2600]];
  for (const [n, [least, most]] of between.entries()) {
    assert.ok(seen.pauses[n] >= least && seen.pauses[n] < most, `pause ${n} is ${seen.pauses[n]}`);
  }
});

test("pauses are drawn, and grow up to five seconds", async (t) => {
  for (const [random, want] of [[0, [100, 200, 400, 800, 1600, 2500, 2500]], [1, [300, 600, 1200, 2400, 4800, 7500, 7500]]]) {
    t.mock.method(Math, "random", () => random);
    const { waymark, seen } = fake(t, (n) => (n <= 7 ? refuse(502, "") : done()), { patience: 60_000 });
    await waymark.call("getMe");
    assert.deepEqual(seen.pauses, want);
    t.mock.restoreAll();
    t.mock.timers.reset();
  }
});

test("each mutation has a key of its own, a given one stays, and reads have none", async (t) => {
  const { waymark, seen } = fake(t, done);
  await waymark.call("createTags", tag);
  await waymark.call("createTags", tag);
  await waymark.call("createTags", tag, { key: "k" });
  await waymark.call("getMe");
  assert.ok(seen.keys[0] && seen.keys[0] !== seen.keys[1]);
  assert.deepEqual(seen.keys.slice(2), ["k", null]);
});

test("where the server failed, the key of a mutation is told", async (t) => {
  for (const [status, told] of [[409, undefined], [499, undefined], [500, "k"], [502, "k"], [504, "k"]]) {
    const { waymark } = fake(t, () => refuse(status, "some_code"), { patience: 0 });
    await assert.rejects(waymark.call("createTags", tag, { key: "k" }), { status, key: told });
    await assert.rejects(waymark.call("getMe"), { status, key: undefined });
    t.mock.restoreAll();
    t.mock.timers.reset();
  }
});

test("the revision is that of a change, also where a proxy compressed the answer", async (t) => {
  for (const [etag, want] of [['"5f0a"', "5f0a"], ['W/"5f0a"', "5f0a"]]) {
    const { waymark } = fake(t, () => new Response('{"data":{},"meta":{}}', { headers: { ETag: etag } }));
    assert.equal((await waymark.call("getMe")).revision, want);
    t.mock.restoreAll();
    t.mock.timers.reset();
  }
});

test("what may pass is repeated, and what would be refused again is not", async (t) => {
  for (const [status, code, calls] of [
    [400, "invalid_request", 1], [401, "unauthenticated", 1], [403, "insufficient_permission", 1], [404, "not_found", 1],
    [409, "resource_conflict", 1], [409, "operation_in_progress", 2], [412, "revision_conflict", 1], [422, "validation_failed", 1],
    [429, "rate_limited", 2], [500, "internal_error", 1], [502, "", 2], [503, "service_unavailable", 2], [504, "", 2],
  ]) {
    const { waymark, seen } = fake(t, (n) => (n === 1 ? refuse(status, code) : done()));
    const error = await waymark.call("createTags", tag).then(() => undefined, (error) => error);
    assert.equal(seen.keys.length, calls, `${status} ${code}`);
    if (calls === 1) assert.deepEqual([error.constructor, error.status, error.code, error.requestId], [WaymarkError, status, code, "req_1"]);
    else assert.equal(error, undefined);
    t.mock.timers.reset();
    t.mock.restoreAll();
  }
  for (const [code, calls] of [["ECONNREFUSED", 2], ["EAI_AGAIN", 2], [undefined, 2], ["ENOTFOUND", 1], ["DEPTH_ZERO_SELF_SIGNED_CERT", 1], ["ERR_TLS_CERT_ALTNAME_INVALID", 1], ["CERT_HAS_EXPIRED", 1]]) {
    const { waymark, seen } = fake(t, (n) => (n === 1 ? lose(code) : done()));
    const error = await waymark.call("getMe").then(() => undefined, (error) => error);
    assert.equal(seen.keys.length, calls, code);
    if (calls === 1) assert.deepEqual([error.constructor, error.message, error.key], [LostError, "no answer from the server: it broke", undefined]);
    t.mock.timers.reset();
    t.mock.restoreAll();
  }
});

test("patience ends before its bound, and at once where the server asks for more", async (t) => {
  let jitter = 0;
  t.mock.method(Math, "random", () => jitter / 200);
  for (const [patience, seconds, more, calls] of [[undefined, 10, 0, 2], [undefined, 10, 0.5, 1], [3000, 3, 0, 2], [2999, 3, 0, 1], [0, 0, 0, 1]]) {
    jitter = more;
    const { waymark, seen } = fake(t, (n) => (n === 1 ? refuse(429, "rate_limited", { "Retry-After": `${seconds}` }) : done()), patience === undefined ? {} : { patience });
    const error = await waymark.call("getMe").then(() => undefined, (error) => error);
    assert.equal(seen.keys.length, calls, `patience ${patience}, Retry-After ${seconds}`);
    if (calls === 1) assert.equal(error.retryAfter, seconds * 1000);
    t.mock.timers.reset();
  }
  const { waymark, seen } = fake(t, () => lose("ECONNREFUSED"));
  await assert.rejects(waymark.call("createTags", tag, { key: "k" }), (error) => error instanceof LostError && error.key === "k");
  assert.ok(seen.keys.length >= 5 && seen.elapsed() <= 10_000 && seen.elapsed() > 5_000, `${seen.keys.length} calls in ${seen.elapsed()} ms`);
  const before = seen.keys.length;
  await assert.rejects(waymark.call("getMe", {}, { patience: 0 }), LostError);
  assert.equal(seen.keys.length, before + 1);
});

test("a caller who leaves does not wait", async (t) => {
  const caller = new AbortController();
  const { waymark, seen } = fake(t, () => refuse(503, "service_unavailable", { "Retry-After": "5" }));
  seen.asleep = true;
  const call = waymark.call("getMe", {}, { signal: caller.signal });
  await setImmediate();
  assert.equal(seen.pauses.length, 1);
  caller.abort(new Error("enough"));
  await assert.rejects(call, /^Error: enough$/);
  await assert.rejects(waymark.call("getMe", {}, { signal: caller.signal }), /^Error: enough$/);
  assert.equal(seen.keys.length, 1);
});

test("a caller who left while being told of a pause does not wait", async (t) => {
  const caller = new AbortController();
  const { waymark } = fake(t, () => refuse(503, "service_unavailable"), { waiting: () => caller.abort(new Error("enough")) });
  await assert.rejects(waymark.call("getMe", {}, { signal: caller.signal }), /^Error: enough$/);
});

test("a call that ended leaves no timer and no listener", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const caller = new AbortController();
  let calls = 0;
  const waymark = new Waymark({
    server: "https://waymark.example", token: "x", fetch: async () => (calls++ ? done() : refuse(503, "service_unavailable")),
  });
  await waymark.call("getMe", {}, { signal: caller.signal });
  assert.equal(calls, 2);
  assert.deepEqual([timers(), getEventListeners(caller.signal, "abort").length], [before, 0]);
  calls = 0;
  const left = waymark.call("getMe", {}, { signal: caller.signal });
  await setImmediate();
  assert.equal(timers(), before + 1);
  caller.abort();
  await assert.rejects(left, { name: "AbortError" });
  assert.equal(timers(), before);
});

test("a caller who leaves during a request ends it, and it is not repeated", async (t) => {
  const caller = new AbortController();
  const { waymark, seen } = fake(t, (n, target, { signal }) => new Promise((_, fail) => signal.addEventListener("abort", () => fail(signal.reason))));
  const call = waymark.call("createTags", tag, { signal: caller.signal });
  await setImmediate();
  caller.abort();
  await assert.rejects(call, { name: "AbortError" });
  assert.equal(seen.keys.length, 1);
});

test("a request has a minute, or as long as it is given", async (t) => {
  const hang = (n, target, { signal }) => new Promise((_, fail) => signal.addEventListener("abort", () => fail(signal.reason)));
  for (const [options, call, limit] of [[{}, {}, 60_000], [{ timeout: 5000 }, {}, 5000], [{ timeout: 5000 }, { timeout: 7000 }, 7000]]) {
    const { waymark, seen } = fake(t, hang, { patience: 0, ...options });
    let error;
    const ended = waymark.call("getMe", {}, call).catch((e) => (error = e));
    await setImmediate();
    seen.pass(limit - 1);
    await setImmediate();
    assert.equal(error, undefined);
    seen.pass(1);
    await ended;
    assert.deepEqual([error.constructor, error.message], [LostError, `no answer from the server: it took longer than ${limit} ms`]);
    t.mock.timers.reset();
    t.mock.restoreAll();
  }
});

test("a list ends with its last page, and one that leads to itself with an error", async (t) => {
  const targets = [];
  const page = (hasMore, nextCursor) => Response.json({ data: [1, 2], meta: { requestId: "req_1" }, pagination: { hasMore, nextCursor } });
  const { waymark } = fake(t, (n, target) => (targets.push(new URL(target).search), page(n < 3, n < 3 ? `c${n}` : null)));
  const args = { appId: "a" };
  const found = [];
  for await (const item of waymark.items("getLinks", args)) found.push(item);
  assert.deepEqual(found, [1, 2, 1, 2, 1, 2]);
  assert.deepEqual(targets, ["?appId=a", "?appId=a&cursor=c1", "?appId=a&cursor=c2"]);
  assert.deepEqual(args, { appId: "a" });
  t.mock.timers.reset();
  t.mock.restoreAll();
  const { waymark: circle, seen } = fake(t, () => page(true, "c1"));
  await assert.rejects(async () => { for await (const _ of circle.pages("getLinks", args)); }, /leads to itself/);
  assert.equal(seen.keys.length, 2);
});
