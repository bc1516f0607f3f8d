// All links of a tag, a folder or a campaign are put under another one, page by page.

import * as api from "./api.js";
import { app } from "./session.js";
import { changeAll, tagAll } from "./batch.js";
import { forget, jobs, over } from "./jobs.js";
import { patient } from "./patience.js";

/** @typedef {import("./catalog.js").Kind} Kind */

/** What the kinds are called in the filters of links and in links. @type {Record<string, string>} */
export const filterOf = { tags: "tagId", folders: "folderId", campaigns: "campaignId" };

/**
 * @param {Kind} kind
 * @param {string} from
 * @param {string | null} into null takes the links out
 * @param {string} title what the panel of jobs says
 * @param {(n: number) => void} progress
 * @returns {Promise<{link: any, message: string}[]>} the links that could not be moved
 */
export async function moveAll(kind, from, into, title, progress) {
  const appId = app.value.id;
  const filter = filterOf[kind];
  const left = [];
  let done = 0;
  for (let cursor = undefined; ; ) {
    const read = () => api.page("/links", { appId, [filter]: from, archived: "all", limit: 50, cursor });
    const { data, pagination } = await patient(read);
    if (kind === "tags") await patient(() => tagAll(data, String(into), true, (n) => progress(done + n)));
    else {
      const change = { action: kind === "folders" ? "move" : "update", input: { [filter]: into } };
      // After a pause the page is read again: what is moved already is not in it.
      await patient(async () => left.push(...(await changeAll(appId, (await read()).data, title, () => change))));
    }
    progress((done += data.length));
    // Whoever asked sees the progress; the batches of the pages that are done would only pile up.
    for (const j of jobs.value) if (j.title === title && over(j)) forget(j.id);
    if (!pagination.hasMore) return left;
    cursor = pagination.nextCursor;
  }
}
