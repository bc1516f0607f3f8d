// The short lists that many screens choose from: domains, tags, folders and campaigns of the app.
// They are read once, and again after a change.

import { signal, useEffect } from "./ui.js";
import * as api from "./api.js";
import { app } from "./session.js";

/** @typedef {"domains" | "tags" | "folders" | "campaigns"} Kind */

/** @type {Record<string, {value: any[] | undefined}>} */
const lists = {};

/** @param {Kind} kind */
const at = (kind) => (lists[kind + app.value?.id] ??= signal(undefined));

/** Reads a list again. @param {Kind} kind */
export async function refresh(kind) {
  const list = at(kind);
  list.value = await api.all("/" + kind, { appId: app.value.id });
  return list.value;
}

/** The list of a kind, undefined until it is read. @param {Kind} kind @param {boolean} [wanted] @returns {any[] | undefined} */
export function useCatalog(kind, wanted = true) {
  const list = at(kind);
  useEffect(() => {
    if (wanted && list.value === undefined) refresh(kind).catch(() => {});
  }, [list, wanted]);
  return list.value;
}

/**
 * Gives names to ids, "…" until they are known. When the list lacks one of the ids it is read again:
 * somebody else may have made it meanwhile.
 * @param {Kind} kind
 * @param {string[]} ids
 * @returns {(id: string) => string}
 */
export function useNames(kind, ids) {
  const list = useCatalog(kind, ids.length > 0);
  const missing = list && ids.find((id) => !list.some((x) => x.id === id));
  useEffect(() => {
    if (missing) refresh(kind).catch(() => {});
  }, [missing]);
  return (id) => list?.find((x) => x.id === id)?.name ?? "…";
}

/** The domains on which links can be made. @param {any[] | undefined} domains */
export const ready = (domains) => domains?.filter((d) => !d.detached && d.links === "ready");

/** @param {any[] | undefined} list @returns {[string, string][]} */
export const choices = (list) => (list ?? []).map((x) => [x.id, x.name]);
