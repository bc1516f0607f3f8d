// Calls of a running server: changes, lists, files and refusals.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { WaymarkError } from "@waymarkhq/client";
import { connect, eventually, owner, server } from "./setup.mjs";

let waymark, appId, domain;
before(async () => ({ waymark, appId, domain } = await owner()));

const link = (slug, more) => ({ body: { appId, domain, slug, desktopUrl: "https://example.com/", ...more } });

test("a link is created, read, changed and deleted", async () => {
  const made = await waymark.call("createLinks", link("spring", { title: "Spring" }));
  assert.equal(made.status, 201);
  assert.match(made.requestId, /^req_[0-9a-f]{32}$/);
  assert.equal(made.headers.get("Location"), `/v1/links/${encodeURIComponent(made.data.id)}`);
  assert.equal(made.replayed, false);
  const linkId = made.data.id;
  const read = await waymark.call("getLinksLinkId", { linkId });
  assert.equal(read.data.title, "Spring");
  assert.equal(read.revision, read.data.revision);

  const changed = await waymark.call("updateLinksLinkId", { linkId, revision: read.revision, body: { title: null } });
  assert.equal(changed.data.title, null);
  assert.notEqual(changed.revision, read.revision);
  await assert.rejects(waymark.call("updateLinksLinkId", { linkId, revision: read.revision, body: { title: "Late" } }), (error) => {
    assert.equal(error.status, 412);
    assert.equal(error.code, "revision_conflict");
    return error instanceof WaymarkError;
  });
  assert.equal((await waymark.call("getLinksLinkId", { linkId })).data.title, null);
  await assert.rejects(waymark.call("deleteLinksLinkId", { linkId }), { code: "precondition_required", status: 428 });

  const gone = await waymark.call("deleteLinksLinkId", { linkId, revision: changed.revision });
  assert.equal(gone.status, 204);
  assert.equal(gone.data, undefined);
  await assert.rejects(waymark.call("getLinksLinkId", { linkId }), { code: "not_found", status: 404 });
});

test("a list is read over its pages, to the last or as far as it is needed", async () => {
  const names = Array.from({ length: 7 }, (_, n) => `tag ${n}`);
  for (const name of names) await waymark.call("createTags", { body: { appId, name } });
  const sizes = [];
  for await (const page of waymark.pages("getTags", { appId, limit: 3 })) sizes.push(page.data.length);
  assert.deepEqual(sizes, [3, 3, 1]);
  const found = [];
  for await (const tag of waymark.items("getTags", { appId, limit: 3 })) found.push(tag.name);
  assert.deepEqual(found.sort(), names);

  const first = await waymark.call("getTags", { appId, limit: 3 });
  const rest = [];
  for await (const tag of waymark.items("getTags", { appId, limit: 3, cursor: first.pagination.nextCursor })) rest.push(tag.name);
  assert.equal(rest.length, 4);

  let calls = 0;
  const counting = connect({ fetch: (...request) => (calls++, fetch(...request)) });
  for await (const tag of counting.items("getTags", { appId, limit: 3 })) if (tag) break;
  assert.equal(calls, 1);
  const wrong = waymark.items("getTags", { appId, cursor: "x" });
  await assert.rejects(wrong.next(), { code: "invalid_request", status: 400 });
});

test("files are answered as blobs", async () => {
  const { data } = await waymark.call("createLinks", link("poster"));
  const png = await waymark.call("getLinksLinkIdQr", { linkId: data.id });
  assert.equal(png.data.type, "image/png");
  assert.deepEqual([...new Uint8Array(await png.data.arrayBuffer()).slice(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  const svg = await waymark.call("getLinksLinkIdQr", { linkId: data.id, format: "svg", size: 256 });
  assert.match(await svg.data.text(), /<svg/);
  await assert.rejects(waymark.call("getLinksLinkIdQr", { linkId: "none" }), { code: "not_found" });

  const asset = await waymark.call("createAssets", { body: { appId, file: new File([png.data], "poster.png", { type: "image/png" }) } });
  assert.equal(asset.data.byteSize, png.data.size);

  const job = await waymark.call("createExports", { body: { appId, dataset: "links", format: "json", filters: {} } });
  assert.ok(Number(job.headers.get("Retry-After")) > 0);
  await eventually(async () => (await waymark.call("getOperationsOperationId", { operationId: job.data.operationId })).data.status === "succeeded");
  const file = await waymark.call("getExportsExportIdDownload", { exportId: job.data.id });
  assert.ok(file.data instanceof Blob);
  assert.equal(JSON.parse(await file.data.text()).length, 1);
});

test("the items of an import are objects, or a file", async () => {
  const content = JSON.stringify([{ domain, slug: "imported", desktopUrl: "https://example.com/" }]);
  const { data: job } = await waymark.call("createImports", { body: { appId, format: "json", content } });
  await waymark.call("validateImportsImportId", { importId: job.id });
  const items = await waymark.call("getImportsImportIdItems", { importId: job.id });
  assert.equal(items.data[0].state, "valid");
  const csv = await waymark.call("getImportsImportIdItems", { importId: job.id, format: "csv" });
  assert.match(await csv.data.text(), /valid/);
});

test("a refusal says what was wrong, and where", async () => {
  await assert.rejects(waymark.call("createLinks", link("bad slug")), (error) => {
    assert.equal(error.code, "validation_failed");
    assert.equal(error.status, 422);
    assert.match(error.requestId, /^req_/);
    assert.equal(error.details[0].path, "/slug");
    assert.ok(error.message.includes(error.requestId) && error.message.includes("validation_failed"));
    return true;
  });
  const { data: folder } = await waymark.call("createFolders", { body: { appId, name: "Sales" } });
  await waymark.call("createLinks", link("kept", { folderId: folder.id }));
  await assert.rejects(waymark.call("deleteFoldersFolderId", { folderId: folder.id, revision: folder.revision }), (error) => {
    assert.equal(error.code, "resource_conflict");
    assert.deepEqual([error.dependencies[0].type, error.dependencies[0].count], ["link", 1]);
    return true;
  });
  const key = crypto.randomUUID();
  const body = { name: "CI", appIds: [appId], permissions: ["links:read"] };
  const { data } = await waymark.call("createApiKeys", { body }, { key });
  await assert.rejects(waymark.call("createApiKeys", { body }, { key }), { code: "secret_not_replayable", resourceId: data.key.id });
  await assert.rejects(connect({ token: data.secret }).call("getMePreferences"), { code: "insufficient_permission", status: 403 });
  await assert.rejects(connect({ token: "svc_test_x" }).call("getMe"), { code: "unauthenticated", status: 401 });
});

test("the same call with the same key happens once", async () => {
  const key = crypto.randomUUID();
  const first = await waymark.call("createLinks", link("once"), { key });
  const again = await waymark.call("createLinks", link("once"), { key });
  assert.equal(again.data.id, first.data.id);
  assert.deepEqual([first.replayed, again.replayed], [false, true]);
  await assert.rejects(waymark.call("createLinks", link("twice"), { key }), { code: "idempotency_conflict", status: 409 });
});

test("the address of the server may name the API", async () => {
  const origin = new URL(server).origin;
  for (const address of [origin, origin + "/", origin + "/v1", origin + "/v1/"]) {
    assert.equal((await connect({ server: address }).call("getMe")).data.actorType, "human");
  }
});
