// What compiles for a user, and what must not.
import { verify, Waymark, WaymarkError, type Answer, type Args, type Data, type Item, type OperationId, type Schemas } from "@waymarkhq/client";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>) => undefined;

export async function program(waymark: Waymark): Promise<void> {
  const made = await waymark.call("createLinks", { body: { appId: "a", domain: "d", slug: "s" } });
  same<typeof made, Answer<Schemas["Link"]>>(true);
  same<Data<"getLinks">, Schemas["Link"][]>(true);
  same<Item<"getTags">, Schemas["Tag"]>(true);
  same<Args<"getLinks">["state"], "active" | "scheduled" | "expired" | "archived" | undefined>(true);
  same<Data<"deleteLinksLinkId">, undefined>(true);
  same<Data<"getLinksLinkIdQr">, Blob>(true);
  same<Parameters<Waymark["pages"]>[0] extends OperationId ? true : false, true>(true);

  const json = await waymark.call("getImportsImportIdItems", { importId: "i" });
  same<typeof json.data, Schemas["ImportItem"][]>(true);
  const csv = await waymark.call("getImportsImportIdItems", { importId: "i", format: "csv" });
  same<typeof csv.data, Blob>(true);

  await waymark.call("getMe");
  await waymark.call("getMe", {}, { signal: AbortSignal.timeout(1000), patience: 0 });
  await waymark.call("resyncLinksLinkId", { linkId: "l", revision: "r" });
  await waymark.call("createAssets", { body: { appId: "a", file: new Blob(["x"]) } });
  for await (const link of waymark.items("getLinks", { appId: "a" })) same<typeof link, Schemas["Link"]>(true);
  for await (const page of waymark.pages("getAnalyticsTopLinks", { appId: "a", start: "s", end: "e" })) page.data.items.length;

  // @ts-expect-error: there is no such operation
  await waymark.call("getNothing");
  // @ts-expect-error: the app is missing
  await waymark.call("getLinks");
  // @ts-expect-error: the revision is missing
  await waymark.call("updateLinksLinkId", { linkId: "l", body: { title: "t" } });
  // @ts-expect-error: the body is missing
  await waymark.call("createTags", {});
  // @ts-expect-error: the field has another type
  await waymark.call("createTags", { body: { appId: "a", name: 1 } });
  // @ts-expect-error: there is no such field
  await waymark.call("createTags", { body: { appId: "a", name: "n", colour: "red" } });
  // @ts-expect-error: there is no such parameter
  await waymark.call("getLinks", { appId: "a", page: 2 });
  // @ts-expect-error: one link is no list
  waymark.items("getLinksLinkId", { linkId: "l" });
  // @ts-expect-error: these pages are no arrays
  waymark.items("getAnalyticsTopLinks", { appId: "a", start: "s", end: "e" });
  // @ts-expect-error: the token is missing
  new Waymark({ server: "https://waymark.example.com" });

  const error: unknown = undefined;
  // @ts-expect-error: there is no such code
  if (error instanceof WaymarkError && error.code === "no_such_code") return;

  const event = await verify(new Uint8Array(), new Headers(), ["s"], { tolerance: 1, now: 2 });
  // @ts-expect-error: there is no such event
  if (event.type === "link.clicked") return;
}
