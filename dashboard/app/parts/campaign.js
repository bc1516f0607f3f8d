// What campaigns have besides a name: a period and UTM parameters.

import { html } from "../core/ui.js";
import { orNull } from "../core/form.js";
import { day } from "../core/format.js";
import { w } from "../core/words.js";
import { Group, Instant, Text } from "./fields.js";

const parameters = ["source", "medium", "campaign", "term", "content"];

/** A period in words. @param {any} c */
export const periodOf = (c) => (c.startsAt && c.endsAt ? `${day(c.startsAt)} – ${day(c.endsAt)}` : c.startsAt ? w.names.since(day(c.startsAt)) : c.endsAt ? w.names.until(day(c.endsAt)) : "");

/** The parameters that are set. @param {any} c @returns {string[]} */
export const utmOf = (c) => parameters.filter((p) => c.utm[p]).map((p) => `${p}=${c.utm[p]}`);

export const campaignColumns = () => [w.names.period, "UTM"];

/** @param {any} c */
export const campaignCells = (c) => html`<td class="small">${periodOf(c)}</td><td class="small muted utm">${utmOf(c).join(" · ")}</td>`;

/** @param {import("../core/form.js").Form} form */
export function campaignFields(form) {
  const { values: v, errors } = form;
  const instant = (name, label) => html`<${Instant} label=${label} name=${name} error=${errors[name]} value=${v[name]} set=${(at) => form.set(name, at)} />`;
  return html`<div class="pair">${instant("startsAt", w.names.from)}${instant("endsAt", w.names.to)}</div>
    <${Group} legend=${w.edit.utm}><p class="muted small">${w.names.campaigns.utmHint}</p><div class="pair">${parameters.map((p) => html`<${Text} label=${"utm_" + p} maxlength="255" ...${form.bind("utm." + p)} />`)}</div><//>`;
}

/** @param {any} v */
export const campaignInput = (v) => ({
  startsAt: v.startsAt ?? null, endsAt: v.endsAt ?? null, utm: Object.fromEntries(parameters.map((p) => [p, orNull(v.utm[p]?.trim())])),
});
