// What was changed, and what was asked of the API.

import { html } from "../core/ui.js";
import { href, refine } from "../core/router.js";
import { app } from "../core/session.js";
import { useList } from "../core/load.js";
import { period } from "../core/period.js";
import { ago, moment, number } from "../core/format.js";
import { w } from "../core/words.js";
import { placeOfResource } from "../parts/resource.js";
import { Copy, Empty, More, Screen, Shown, State, Tabs } from "../parts/basics.js";
import { Choose } from "../parts/fields.js";

const everywhere = "all";

/** When a period begins. @param {string} days */
const from = (days) => (days ? period(Number(days)).start : "");

/** @param {any} actor */
const who = (actor) => actor?.name ?? (actor?.type === "api_key" ? w.activity.key : actor ? w.activity.owner : w.activity.nobody);

/** @param {string} operation */
const words = (operation) => w.activity.operations[operation] ?? operation.replace(/[A-Z]/g, (c) => " " + c.toLowerCase());

/** @param {{query: Record<string, string>}} props */
export default function Activity({ query }) {
  const requests = query.tab === "requests";
  const at = href("/activity", { tab: requests ? "requests" : "" });
  return html`<${Screen} title=${w.nav.activity} lead=${w.activity.lead}><div><${Tabs} label=${w.activity.tabs} at=${at} places=${[[href("/activity"), w.activity.changes], [href("/activity", { tab: "requests" }), w.activity.requests]]} />
    ${requests ? html`<${Requests} query=${query} />` : html`<${Changes} query=${query} />`}</div><//>`;
}

/** @param {{query: Record<string, string>, children?: any}} props */
const Filters = ({ query, children }) => html`<div class="row">${children}
  <${Choose} class="slim" aria-label=${w.overview.period} empty=${w.activity.period} options=${[1, 7, 30, 90].map((d) => [String(d), w.overview.days(d)])} value=${query.days ?? ""} onChange=${(e) => refine({ days: e.target.value })} />
  <${Choose} class="slim" aria-label=${w.nav.app} empty=${w.activity.app} options=${[[everywhere, w.activity.everywhere]]} value=${query.app ?? ""} onChange=${(e) => refine({ app: e.target.value })} /></div>`;

/** @param {Record<string, string>} query */
const common = (query) => ({ appId: query.app === everywhere ? "" : app.value.id, from: from(query.days) });

const Nothing = () => html`<${Empty} icon="clock" title=${w.activity.none}><p>${w.activity.noneText}</p><//>`;

/** @param {{query: Record<string, string>}} props */
function Changes({ query }) {
  const list = useList("/audit-events", { ...common(query), resourceType: query.kind });
  return html`<div class="stack"><${Filters} query=${query}><${Choose} class="slim" aria-label=${w.activity.kind} empty=${w.activity.kind} options=${Object.entries(w.activity.kinds)} value=${query.kind ?? ""}
      onChange=${(e) => refine({ kind: e.target.value })} /><//>
    <${Shown} of=${list}>${(rows) => rows.length ? html`<div class="card"><ol class="list">${rows.map((e) => html`<li class="row spread" key=${e.id}><span class="grow"><${Change} event=${e} /></span>
      <time class="muted small" datetime=${e.createdAt} title=${moment(e.createdAt)}>${ago(e.createdAt)}</time></li>`)}</ol></div><${More} list=${list} />` : html`<${Nothing} />`}<//></div>`;
}

/** One change in words, which lead to what was changed. @param {{event: any}} props */
function Change({ event: e }) {
  const to = e.operation.startsWith("delete") ? "" : placeOfResource(e.resource);
  const what = words(e.operation);
  return html`<strong>${who(e.actor)}</strong> ${to ? html`<a href=${to}>${what}</a>` : what}`;
}

/** @param {{query: Record<string, string>}} props */
function Requests({ query }) {
  const list = useList("/requests", { ...common(query), errorCode: query.error && query.error !== "any" ? query.error : "" }, 100);
  const any = query.error === "any";
  const codes = Object.keys(w.refused).filter((c) => c !== "lost");
  return html`<div class="stack"><${Filters} query=${query}><${Choose} class="slim" aria-label=${w.activity.error} empty=${w.activity.all} options=${[["any", w.activity.errors], ...codes.map((c) => [c, c.replaceAll("_", " ")])]}
      value=${query.error ?? ""} onChange=${(e) => refine({ error: e.target.value })} /><//>
    <${Shown} of=${list}>${(all) => {
      const rows = any ? all.filter((r) => r.status >= 400) : all;
      return html`${any && html`<p class="muted small" role="status">${w.activity.looked(rows.length, all.length)}</p>`}
        ${rows.length ? html`<div class="card flush scroll"><table class="table folds"><thead><tr><th>${w.activity.operation}</th><th>${w.activity.status}</th><th class="number">${w.activity.duration}</th><th>${w.activity.at}</th></tr></thead>
          <tbody>${rows.map((r) => html`<tr key=${r.id}><th scope="row" class="wide"><code>${r.operation || r.route}</code><p class="muted small told">${r.method} ${r.route} · ${who(r.actor)}</p></th>
            <td><${State} of=${r.status < 400 ? "ok" : r.status < 500 ? "warning" : "failed"} text=${String(r.status)} />${r.errorCode && html`<span class="small muted"> ${r.errorCode.replaceAll("_", " ")}</span>`}</td>
            <td class="number small">${w.activity.ms(number(r.durationMs))}</td><td class="narrow"><time class="muted small" datetime=${r.createdAt} title=${moment(r.createdAt)}>${ago(r.createdAt)}</time><${Copy} text=${r.id} label=${w.activity.copyId(r.id)} /></td></tr>`)}</tbody></table></div>`
        : list.hasMore ? null : html`<${Nothing} />`}<${More} list=${list} />`;
    }}<//></div>`;
}
