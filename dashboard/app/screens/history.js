// What was changed of a link, and when.

import { html } from "../core/ui.js";
import * as api from "../core/api.js";
import { href } from "../core/router.js";
import { useList, useLoad } from "../core/load.js";
import { ago, bare, moment } from "../core/format.js";
import { w } from "../core/words.js";
import { Card, More, Screen, Shown, Tabs } from "../parts/basics.js";
import { tabsOf } from "./link.js";

/** @param {{id: string}} props */
export default function History({ id }) {
  const link = useLoad((s) => api.get("/links/" + api.seg(id), {}, s), [id]);
  const list = useList(`/links/${api.seg(id)}/history`, {});
  const field = (f) => w.fields[f] ?? f;
  return html`<${Screen} title=${link.value ? link.value.title || bare(link.value) : w.link.history} crumb=${{ href: "#/links", text: w.nav.links }}>
    <${Tabs} label=${w.link.parts} places=${tabsOf(id)} at=${href(`/links/${api.seg(id)}/history`)} />
    <${Card}><${Shown} of=${list}>${(rows) => html`<ol class="list">${rows.map((h) => html`<li class="row spread" key=${h.id}>
      <div class="grow"><strong>${w.link.actions[h.action] ?? h.action}</strong>${h.fields.length > 0 && html`<p class="muted small">${h.fields.map(field).join(", ")}</p>`}</div>
      <time class="muted small" datetime=${h.createdAt} title=${moment(h.createdAt)}>${ago(h.createdAt)}</time></li>`)}</ol>`}<//><//><${More} list=${list} /><//>`;
}
