// What an app, a domain or a link chose as a page, in words.

import * as api from "../core/api.js";
import { app } from "../core/session.js";
import { useLoad } from "../core/load.js";
import { w } from "../core/words.js";

/** @typedef {{mode: "inherit" | "official" | "custom", templateId?: string | null, version?: number | null} | null} Choice */

/**
 * The names of the app's pages by their ids. They are read when one is needed.
 * @param {boolean} needed
 * @returns {(id: string) => string | undefined}
 */
export function useNames(needed) {
  const { value = [] } = useLoad((s) => (needed ? api.all("/templates", { appId: app.value.id, archived: "all" }, s) : Promise.resolve([])), [needed]);
  return (id) => value.find((t) => t.id === id)?.name;
}

/** @param {Choice} choice @param {(id: string) => string | undefined} nameOf @param {string} [own] the page that is looked at */
export function inWords(choice, nameOf, own) {
  if (!choice || choice.mode === "inherit") return w.publish.inherit;
  if (choice.mode === "official") return w.publish.official;
  const { templateId, version } = choice;
  return templateId === own ? w.publish.own(Number(version)) : w.publish.other(nameOf(String(templateId)) ?? w.publish.unknown, Number(version));
}

/** Whether a choice is of a page whose name is not known yet. @param {Choice} choice @param {string} [own] */
export const foreign = (choice, own) => choice?.mode === "custom" && choice.templateId !== own;
