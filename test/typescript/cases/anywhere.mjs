// What holds in every runtime: calls, a refusal, a list, a file, an upload, a lost answer, a redirect, and a webhook.
export async function check({ LostError, Waymark, WaymarkError, verify }, { server, token, site, secret, delivery }) {
  const found = [];
  const expect = (name, ok) => found.push({ name, ok: Boolean(ok) });
  const failure = (promise) => promise.then(() => undefined, (error) => error);
  const waymark = new Waymark({ server, token });

  const { data: app, requestId } = await waymark.call("createApps", { body: { name: "Anywhere" } });
  expect("a call", app.name === "Anywhere" && requestId.startsWith("req_"));
  const { data: renamed } = await waymark.call("updateAppsAppId", { appId: app.id, revision: app.revision, body: { name: "Here" } });
  expect("a change", renamed.name === "Here");
  const conflict = await failure(waymark.call("updateAppsAppId", { appId: app.id, revision: app.revision, body: { name: "There" } }));
  expect("a refusal", conflict instanceof WaymarkError && conflict.code === "revision_conflict");
  for (const name of ["a", "b", "c"]) await waymark.call("createFolders", { body: { appId: app.id, name } });
  let folders = 0;
  for await (const folder of waymark.items("getFolders", { appId: app.id, limit: 2 })) folders += folder.appId === app.id;
  expect("a list", folders === 3);
  const png = Uint8Array.from(atob(pixel), (c) => c.charCodeAt(0));
  const { data: asset } = await waymark.call("createAssets", { body: { appId: app.id, file: new Blob([png], { type: "image/png" }) } });
  expect("an upload", asset.byteSize === png.length);
  const lost = await failure(new Waymark({ server: "http://127.0.0.1:1", token, patience: 0 }).call("getMe"));
  expect("no answer", lost instanceof LostError);
  const moved = await failure(new Waymark({ server: `${site}/moved`, token }).call("getMe"));
  expect("a redirect", moved instanceof WaymarkError && moved.message.includes("redirects"));

  const event = await verify(delivery.body, new Headers(delivery.headers), secret);
  expect("a webhook", event.type === "webhook.test");
  const stranger = await failure(verify(delivery.body, delivery.headers, "whsec_other"));
  expect("a stranger's webhook", stranger?.name === "SignatureError");
  return found;
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
