// Answers are lost after the server did the work. Nothing is done twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LostError } from "@waymarkhq/client";
import { connect, owner, proxy } from "./setup.mjs";

const ways = {
  "no answer": (answer, response) => response.destroy(),
  "half of an answer": (answer, response, body) => {
    response.writeHead(answer.statusCode, answer.headers);
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
  },
  "an answer of a proxy": (answer, response) => response.writeHead(502, { "Content-Type": "text/html" }).end("<h1>Bad Gateway</h1>"),
};

for (const [name, lose] of Object.entries(ways)) {
  test(`${name}: a repeated call has one effect`, async (t) => {
    const { waymark, appId, domain } = await owner();
    const keys = [];
    const address = await proxy(t, (answer, response, body, incoming) => {
      if (incoming.method !== "POST") return false;
      keys.push(incoming.headers["idempotency-key"]);
      assert.equal(answer.statusCode, 201);
      if (keys.length > 2) return false;
      lose(answer, response, body);
      return true;
    });
    const reasons = [];
    const lossy = connect({ server: address, waiting: (pause, reason) => reasons.push(reason) });
    const made = await lossy.call("createLinks", { body: { appId, domain, slug: "one", desktopUrl: "https://example.com/" } });
    assert.equal(made.replayed, true);
    assert.equal(keys.length, 3);
    assert.equal(new Set(keys).size, 1);
    assert.equal(reasons.length, 2);
    for (const reason of reasons) assert.equal(reason.key ?? keys[0], keys[0]);
    const { data: links } = await waymark.call("getLinks", { appId });
    assert.deepEqual(links.map((link) => link.id), [made.data.id]);
  });
}

test("a call whose answers are all lost fails with its key, with which it can be repeated", async (t) => {
  const { waymark, appId } = await owner();
  let lost = true;
  const address = await proxy(t, (answer, response) => lost && (response.destroy(), true));
  const lossy = connect({ server: address, patience: 0 });
  const body = { appId, name: "Sales" };
  const error = await lossy.call("createFolders", { body }).catch((error) => error);
  assert.ok(error instanceof LostError, String(error));
  assert.match(error.key, /^[0-9a-f-]{36}$/);
  assert.match(error.message, /^no answer from the server: (?!fetch failed)/);
  lost = false;
  const { data, replayed } = await lossy.call("createFolders", { body }, { key: error.key });
  assert.equal(replayed, true);
  assert.deepEqual((await waymark.call("getFolders", { appId })).data.map((folder) => folder.id), [data.id]);
});
