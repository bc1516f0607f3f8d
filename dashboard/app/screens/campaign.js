// One campaign: its clicks and its links.

import { html, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { href, refine } from "../core/router.js";
import { app } from "../core/session.js";
import { useList, useLoad } from "../core/load.js";
import { refresh } from "../core/catalog.js";
import { fill, period, periods } from "../core/period.js";
import { bare, number } from "../core/format.js";
import { missing } from "../core/refusals.js";
import { w } from "../core/words.js";
import { Button, Card, Copy, Empty, More, Screen, Shown, State } from "../parts/basics.js";
import { Choose } from "../parts/fields.js";
import { Bars, Chart } from "../parts/charts.js";
import { Edit } from "../parts/names.js";
import { campaignFields, campaignInput, periodOf, utmOf } from "../parts/campaign.js";

const crumb = { href: "#/campaigns", text: w.nav.campaigns };

/** @param {{id: string, query: Record<string, string>}} props */
export default function Campaign({ id, query }) {
  const path = "/campaigns/" + api.seg(id);
  const campaign = useLoad((s) => api.get(path, {}, s), [id]);
  const links = useList(path + "/links", {}, 20);
  const [editing, setEditing] = useState(false);
  const words = w.names.campaigns;
  const done = () => {
    setEditing(false);
    campaign.reload();
    refresh("campaigns").catch(() => {});
  };
  if (missing(campaign.error)) return html`<${Screen} title=${w.names.gone} crumb=${crumb}><${Empty} icon="flag" title=${w.link.goneText}><${Button} href="#/campaigns">${w.nav.campaigns}<//><//><//>`;
  return html`<${Shown} of=${campaign}>${(c) => html`<${Screen} title=${c.name} lead=${c.description} crumb=${crumb} actions=${html`<${Button} icon="edit" onClick=${() => setEditing(true)}>${w.names.edit}<//>
      <${Button} kind="main-action" icon="plus" href=${href("/links/new", { campaignId: id })}>${words.newLink}<//>`}>
    ${editing && html`<${Edit} about=${{ kind: "campaigns", icon: "flag", fields: campaignFields, input: campaignInput }} of=${c} close=${() => setEditing(false)} done=${done} />`}
    ${(c.archived || periodOf(c) || utmOf(c).length > 0) && html`<div class="chips">${c.archived && html`<${State} of="archived" />`}${[periodOf(c), ...utmOf(c).map((u) => "utm_" + u)].filter(Boolean).map((t) => html`<span class="tag"><span class="cut">${t}</span></span>`)}</div>`}
    <${Clicks} id=${id} query=${query} />
    <${Card} title=${words.itsLinks} actions=${html`<${Button} slim href=${href("/links", { campaignId: id })}>${w.links.allLinks}<//>`}><${Shown} of=${links}>${(rows) => rows.length
      ? html`<ul class="list">${rows.map((l) => html`<li class="row nowrap spread" key=${l.id}><div class="grow"><div class="row nowrap tight"><a class="cut" href=${href("/links/" + api.seg(l.id))}>${bare(l)}</a><${Copy} text=${l.url} label=${w.links.copyAddress(bare(l))} /></div>
          ${l.title && html`<p class="muted small cut">${l.title}</p>`}</div><${State} of=${l.state} /></li>`)}</ul><${More} list=${links} />`
      : html`<${Empty} icon="link" title=${words.noLinks}><p>${words.noLinksText}</p><${Button} href=${href("/links/new", { campaignId: id })}>${words.newLink}<//><//>`}<//><//>
  <//>`}<//>`;
}

/** Its buckets are days, so the periods are those of which the chart has days. @param {{id: string, query: Record<string, string>}} props */
function Clicks({ id, query }) {
  const days = Number(query.days) || 30;
  const appId = app.value.id;
  const clicks = useLoad((s) => api.get("/analytics/campaigns/" + api.seg(id), { appId, ...period(days) }, s), [id, days]);
  const name = (l) => l.title || [l.domain, l.prefix, l.slug].filter(Boolean).join("/");
  return html`<${Shown} of=${clicks}>${({ totals, buckets, topLinks }) => html`<div class="figures">
      ${[[w.overview.clicks, totals.clicks], [w.overview.visitors, totals.uniqueVisitors], [w.overview.activeLinks, totals.activeLinks]].map(([text, n]) => html`<${Card}><p class="muted small">${text}</p><p class="figure">${number(n)}</p><//>`)}</div>
    <${Card} title=${w.overview.clicksOverTime} actions=${html`<${Choose} class="slim" aria-label=${w.overview.period} value=${String(days)} options=${periods.filter((d) => d >= 7 && d <= 90).map((d) => [String(d), w.overview.days(d)])}
      onChange=${(e) => refine({ days: e.target.value })} />`}><${Chart} buckets=${fill(buckets, days)} days=${days} /><//>
    <${Card} title=${w.overview.top}><${Bars} none=${w.names.campaigns.noClicks} items=${topLinks.map((l) => ({ name: name(l), n: l.clicks, href: href("/links/" + api.seg(l.linkId)) }))} /><//>`}<//>`;
}
