// Servers that are not Waymark, addresses that are none, and answers without end.
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";
import { LostError, Waymark, WaymarkError } from "@waymarkhq/client";
import { connect, listen } from "./setup.mjs";

test("what is not from Waymark says so", async (t) => {
  const address = await listen(t, (request, response) => {
    const [status, type, body] = JSON.parse(decodeURIComponent(request.url.split("q=")[1]));
    response.writeHead(status, { "Content-Type": type }).end(body);
  });
  const waymark = new Waymark({ server: address, token: "x", patience: 0 });
  for (const [status, type, body, text] of [
    [404, "text/html", "<h1>Nothing</h1>", "404 Not Found"], [404, "application/json", "null", "404 Not Found"], [403, "application/json", '{"error":"no"}', "403 Forbidden"],
    [200, "text/html", "<h1>Welcome</h1>", "200 OK"], [200, "application/json", "[]", "200 OK"], [200, "application/json", "{", "200 OK"],
    [200, "application/json", "", "200 OK"],
  ]) {
    const q = JSON.stringify([status, type, body]);
    await assert.rejects(waymark.call("getLinks", { appId: "a", q }), (error) => {
      assert.ok(error instanceof WaymarkError, String(error));
      assert.deepEqual([error.status, error.code, error.requestId, error.details], [status, "", "", []]);
      assert.ok(error.message.startsWith(address) && error.message.endsWith(` answers ${text}, which is no answer of Waymark`), error.message);
      return true;
    });
  }
});

test("a status without a text is told alone", async () => {
  const waymark = connect({ server: "https://waymark.example", fetch: async () => new Response("no", { status: 404 }) });
  await assert.rejects(waymark.call("getMe"), { message: "https://waymark.example/v1/me answers 404, which is no answer of Waymark" });
});

test("a redirect is not followed", async (t) => {
  let called = false;
  const other = await listen(t, (_, response) => ((called = true), response.end()));
  const address = await listen(t, (request, response) => response.writeHead(308, { Location: other + request.url }).end());
  const message = `${address}/v1/me redirects to ${other}/v1/me: give that server instead`;
  await assert.rejects(new Waymark({ server: address, token: "x" }).call("getMe"), { message, status: 308 });
  assert.equal(called, false);
});

test("an address or a token with which no call can be made is refused before one", () => {
  for (const server of ["", "waymark.example", "ftp://waymark.example", "https://user@waymark.example", "https://:secret@waymark.example", "https://waymark.example?x=1", "https://waymark.example#x"]) {
    assert.throws(() => new Waymark({ server, token: "x" }), TypeError, server);
  }
  for (const token of ["", "svc_sec\x01ret", "svc_secret\n", "svc_secret…"]) {
    assert.throws(() => new Waymark({ server: "https://waymark.example", token }), (error) => error instanceof TypeError && !error.message.includes("svc_sec"));
  }
  assert.doesNotMatch(inspect(connect({ token: "svc_secret" }), { depth: 9 }), /svc_secret/);
});

test("an id that would change the address is refused before a call, and others are kept whole", async () => {
  let target;
  const waymark = connect({ server: "https://waymark.example", fetch: async (to) => ((target = to), Response.json({ data: {}, meta: {} })) });
  for (const linkId of ["", ".", "..", undefined, null]) await assert.rejects(waymark.call("getLinksLinkId", { linkId }), /^TypeError: linkId is/);
  assert.equal(target, undefined);
  for (const [linkId, segment] of [["go.example.com:0198/1", "go.example.com%3A0198%2F1"], ["...", "..."], ["a?b#c", "a%3Fb%23c"], ["../me", "..%2Fme"]]) {
    await waymark.call("getLinksLinkId", { linkId });
    assert.equal(new URL(target).href, `https://waymark.example/v1/links/${segment}`);
  }
  await waymark.call("getLinks", { appId: "a b&c", state: undefined, limit: 20 });
  assert.equal(target, "https://waymark.example/v1/links?appId=a+b%26c&limit=20");
  await assert.rejects(waymark.call("getNothing"), /^TypeError: there is no operation getNothing$/);
});

test("an answer may have 32 MiB, and is not read further", { timeout: 60_000 }, async (t) => {
  const address = await listen(t, (request, response) => {
    const size = (32 << 20) + Number(request.url.split("size=")[1]);
    response.writeHead(200, { "Content-Type": "image/png" });
    response.end(Buffer.alloc(size));
  });
  const waymark = new Waymark({ server: address, token: "x" });
  const { data } = await waymark.call("getLinksLinkIdQr", { linkId: "a", size: 0 });
  assert.deepEqual([data.size, data.type], [32 << 20, "image/png"]);
  await assert.rejects(waymark.call("getLinksLinkIdQr", { linkId: "a", size: 1 }), /^RangeError: the answer is larger than 32 MiB$/);
  let closed;
  const endless = await listen(t, (_, response) => {
    closed = new Promise((done) => response.on("close", done));
    response.writeHead(200, { "Content-Type": "application/json" });
    const more = setInterval(() => response.write(Buffer.alloc(1 << 20)), 0);
    response.on("close", () => clearInterval(more));
  });
  await assert.rejects(new Waymark({ server: endless, token: "x" }).call("getMe"), RangeError);
  await closed;
});

test("a form has its file and its fields", async (t) => {
  const forms = [];
  const address = await listen(t, async (request, response) => {
    const body = new Blob(await request.toArray());
    forms.push(await new Response(body, { headers: { "Content-Type": request.headers["content-type"] } }).formData());
    if (forms.length === 1) return response.destroy();
    response.writeHead(201, { "Content-Type": "application/json" }).end('{"data":{},"meta":{}}');
  });
  const file = new File(["PNG"], "a.png", { type: "image/png" });
  await new Waymark({ server: address, token: "x" }).call("createAssets", { body: { appId: "app_1", file } });
  assert.equal(forms.length, 2);
  for (const form of forms) {
    assert.equal(form.get("appId"), "app_1");
    assert.deepEqual([form.get("file").name, form.get("file").type, await form.get("file").text()], ["a.png", "image/png", "PNG"]);
  }
});

test("a server that cannot be reached loses the call", async (t) => {
  const agents = [];
  const address = await listen(t, (request) => (agents.push(request.headers["user-agent"]), request.socket.destroy()));
  await assert.rejects(new Waymark({ server: address, token: "x", patience: 0, agent: "shop/1" }).call("getMe"), LostError);
  assert.deepEqual(agents, ["shop/1"]);
  await assert.rejects(new Waymark({ server: address, token: "x", patience: 0 }).call("getMe"), LostError);
});
