// Changes of many links: batches of fifty, one after the other, followed to their ends.

import * as api from "./api.js";
import { follow } from "./jobs.js";
import { w } from "./words.js";

const size = 50;

/**
 * @param {string} appId
 * @param {any[]} links
 * @param {string} title
 * @param {(link: any) => any} change the action of a link and its input
 * @returns {Promise<{link: any, message: string}[]>} the links that were not changed
 */
export async function changeAll(appId, links, title, change) {
  const failed = [];
  for (let i = 0; i < links.length; i += size) {
    const part = links.slice(i, i + size);
    const items = part.map((link, n) => ({ clientId: "n" + n, linkId: link.id, revision: link.revision, ...change(link) }));
    const job = await api.post("/link-batches", { appId, items });
    await follow(job.operationId, { title, to: "/links", appId, total: part.length });
    for (const item of (await api.page(`/link-batches/${job.id}/items`, { limit: size })).data) {
      if (item.state !== "succeeded") failed.push({ link: part[item.ordinal - 1], message: item.error?.message ?? w.states.cancelled });
    }
  }
  return failed;
}

/** Gives many links a tag, or takes it from them. @param {any[]} links @param {string} tagId @param {boolean} has @param {(n: number) => void} progress */
export async function tagAll(links, tagId, has, progress) {
  for (const [i, link] of links.entries()) {
    const path = `/links/${api.seg(link.id)}/tags`;
    const { tagIds, revision } = await api.get(path);
    const wanted = has ? [...new Set([...tagIds, tagId])] : tagIds.filter((t) => t !== tagId);
    if (wanted.length !== tagIds.length) await api.put(path, { tagIds: wanted }, { revision });
    progress(i + 1);
  }
}
