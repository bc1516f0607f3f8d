// The overview: what happened in a period, and what happens now.

import { html, useEffect } from "../core/ui.js";
import * as api from "../core/api.js";
import { href, refine } from "../core/router.js";
import { app } from "../core/session.js";
import { useLoad } from "../core/load.js";
import { fill, granularity, period, periods } from "../core/period.js";
import { ago, country, moment, number } from "../core/format.js";
import { w } from "../core/words.js";
import { Button, Card, Empty, Screen, Shown, State } from "../parts/basics.js";
import { Choose } from "../parts/fields.js";
import { Bars, Chart } from "../parts/charts.js";

const everyMs = 5000;

/** @param {{query: {days?: string}}} props */
export default function Overview({ query }) {
  const days = Number(query.days) || 30;
  const appId = app.value.id;
  const asked = { appId, ...period(days) };
  const depends = [appId, days];
  const summary = useLoad((s) => api.get("/analytics/summary", asked, s), depends);
  const series = useLoad((s) => api.get("/analytics/timeseries", { ...asked, granularity: granularity(days) }, s), depends);
  const top = useLoad((s) => api.get("/analytics/top-links", { ...asked, limit: 10 }, s), depends);
  return html`<${Screen} title=${w.overview.title} lead=${app.value.name}
    actions=${html`<${Choose} class="slim" aria-label=${w.overview.period} value=${String(days)} options=${periods.map((d) => [String(d), w.overview.days(d)])}
      onChange=${(e) => refine({ days: e.target.value })} />
      <${Button} kind="main-action" icon="plus" href="#/links/new">${w.nav.create}<//>`}>
    <${Shown} of=${summary}>${({ totals }) => html`<div class="figures">
      ${[[w.overview.clicks, totals.clicks], [w.overview.visitors, totals.uniqueVisitors], [w.overview.activeLinks, totals.activeLinks], [w.overview.appOpens, totals.appOpens]].map(
        ([name, n]) => html`<${Card}><p class="muted small">${name}</p><p class="figure">${number(n)}</p><//>`,
      )}</div>`}<//>
    <${Card} title=${w.overview.clicksOverTime}><${Shown} of=${series}>${(v) => html`<${Chart} buckets=${fill(v.buckets, days)} days=${days} />`}<//><//>
    <div class="split">
      <${Card} title=${w.overview.top}><${Shown} of=${top}>${(v) => v.items.length
        ? html`<${Bars} items=${v.items.map((l) => ({ name: l.title || l.domain + "/" + (l.prefix ? l.prefix + "/" : "") + l.slug, n: l.clicks, href: href("/links/" + l.linkId) }))} />`
        : html`<${Empty} icon="link" title=${w.overview.none}><p>${w.overview.noneText}</p><${Button} href="#/links/new">${w.nav.create}<//><//>`}<//><//>
      <${Live} appId=${appId} />
    </div>
  <//>`;
}

/** The newest events, asked for again while the page is seen. @param {{appId: string}} props */
function Live({ appId }) {
  const list = useLoad((s) => api.get("/analytics/events", { appId, ...period(1), limit: 12 }, s), [appId]);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || list.reload(), everyMs);
    return () => clearInterval(timer);
  }, [list.reload]);
  return html`<${Card} title=${w.overview.live}><${Shown} of=${list}>${(v) => v.items.length
    ? html`<ul class="list">${v.items.map((e) => html`<li class="row nowrap spread" key=${e.id}>
        <div class="grow"><a class="cut" href=${href("/links/" + e.linkId)}>${e.domain}/${e.prefix ? e.prefix + "/" : ""}${e.slug}</a>
          <p class="muted small cut">${w.events[e.type] ?? e.type} · ${country(e.country)} · ${w.devices[e.device] ?? e.device}${e.referrerHost ? " · " + e.referrerHost : ""}</p></div>
        ${e.device === "bot" && html`<${State} of="bot" text=${w.devices.bot} />`}
        <time class="muted small" datetime=${e.occurredAt} title=${moment(e.occurredAt)}>${ago(e.occurredAt)}</time></li>`)}</ul>`
    : html`<p class="muted">${w.overview.quiet}</p>`}<//><//>`;
}
