// What a key may do: a choice for most, and each permission for those who want to choose.

import { html } from "../core/ui.js";
import { w } from "../core/words.js";
import { Check, Group, Select } from "./fields.js";

/** The resources that belong to links, whose permissions are one choice. */
const ofLinks = ["links", "link_history", "tags", "routing_rules", "folders", "campaigns", "qr_codes", "batches"];
const readToo = ["identity:read", "apps:read", "domains:read", "capabilities:read", "operations:read"];

/** The permissions that keys can have: those that no operation for people alone needs. @param {any[]} operations @returns {string[]} */
export function grantable(operations) {
  const human = new Set(operations.filter((o) => o.humanOnly).map((o) => o.permission));
  return [...new Set(operations.map((o) => o.permission))].filter((p) => !human.has(p));
}

/** @type {Record<string, (p: string) => boolean>} */
const presets = {
  read: (p) => p.endsWith(":read"),
  links: (p) => ofLinks.includes(p.split(":")[0]) || readToo.includes(p),
  all: () => true,
};

/** The permissions of a choice. @param {string} preset @param {string[]} all */
export const chosenBy = (preset, all) => all.filter(presets[preset]);

/** Which choice permissions are. @param {string[]} chosen @param {string[]} all */
const presetOf = (chosen, all) => Object.keys(presets).find((p) => String(chosenBy(p, all)) === String(all.filter((x) => chosen.includes(x)))) ?? "own";

/** @param {string} p */
const verb = (p) => w.apiKeys.verbs[p.split(":")[1]] ?? p.split(":")[1].replaceAll("_", " ");

/** @param {{all: string[], chosen: string[], choose: (chosen: string[]) => void, preset?: boolean, error?: string}} props */
export function Permissions({ all, chosen, choose, preset = true, error }) {
  const resources = [...new Set(all.map((p) => p.split(":")[0]))];
  const is = presetOf(chosen, all);
  const turn = (p) => choose(chosen.includes(p) ? chosen.filter((x) => x !== p) : all.filter((x) => x === p || chosen.includes(x)));
  return html`${preset && html`<${Select} label=${w.apiKeys.preset} hint=${w.apiKeys.presetHint[is]} options=${Object.entries(w.apiKeys.presets).filter(([p]) => p !== "own" || is === "own")} value=${is} error=${error}
      onChange=${(e) => presets[e.target.value] && choose(chosenBy(e.target.value, all))} />`}
    <details class="card" open=${!preset}><summary>${w.apiKeys.list(chosen.length)}</summary><div class="stack">${resources.map((r) => html`<${Group} legend=${w.apiKeys.resources[r] ?? r}>
      <div class="checks">${all.filter((p) => p.startsWith(r + ":")).map((p) => html`<${Check} key=${p} label=${verb(p)} value=${chosen.includes(p)} onInput=${() => turn(p)} />`)}</div><//>`)}</div></details>
    ${!preset && error && html`<p class="bad small">${error}</p>`}`;
}
