// Each operation of the contract can be called by its id, and is called as the contract has it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "@waymarkhq/client";
import { connect, server } from "./setup.mjs";

test("each operation is called as the contract has it", async () => {
  const contract = await (await fetch(new URL("/openapi.json", server))).json();
  const base = new URL(server).origin + "/v1";
  let called;
  const waymark = connect({
    fetch: async (target, init) => {
      called = { target, ...init };
      return Response.json({ data: { found: true }, meta: { requestId: "req_1" } });
    },
  });
  const ids = [];
  for (const [path, item] of Object.entries(contract.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const id = operation.operationId;
      ids.push(id);
      const parameters = (operation.parameters ?? []).map((p) => (p.$ref ? contract.components.parameters[p.$ref.split("/").at(-1)] : p));
      const [media] = Object.keys(operation.requestBody?.content ?? {});
      const args = media ? { body: media.startsWith("multipart") ? { file: new Blob(["x"]) } : { a: 1 } } : {};
      const query = new URLSearchParams();
      let target = path;
      for (const { name, in: where } of parameters) {
        const value = `a/b ${name}`;
        if (where === "path") target = target.replace(`{${name}}`, encodeURIComponent(value));
        if (where === "query") query.set(name, value);
        if (where !== "header") args[name] = value;
        if (name === "If-Match") args.revision = "r";
      }
      const { data } = await waymark.call(id, args);
      assert.equal(called.method, method.toUpperCase(), id);
      assert.equal(called.target, base + target + (query.size ? `?${query}` : ""), id);
      assert.equal(called.headers.get("If-Match"), args.revision ? '"r"' : null, id);
      assert.equal(/^[0-9a-f-]{36}$/.test(called.headers.get("Idempotency-Key")), method !== "get", id);
      if (media === "application/json") assert.equal(called.body, '{"a":1}', id);
      else if (media) assert.equal(await called.body.get("file").text(), "x", id);
      else assert.equal(called.body, undefined, id);
      const media2xx = Object.entries(operation.responses).find(([status]) => status[0] === "2")[1].content ?? {};
      const isFile = !media2xx["application/json"]?.schema.$ref && Object.keys(media2xx).length > 0;
      assert.equal(data instanceof Blob, isFile, id);
    }
  }
  assert.equal(ids.length, 143);
  assert.deepEqual(Object.keys(operations).sort(), ids.sort());
});
