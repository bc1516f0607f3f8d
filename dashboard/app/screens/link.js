// One link: its address and QR code, its clicks, and what a visitor gets.

import { html, useEffect, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { go, href, refine } from "../core/router.js";
import { app } from "../core/session.js";
import { useLoad } from "../core/load.js";
import { fill, granularity, period, periods } from "../core/period.js";
import { bare, country, moment, number } from "../core/format.js";
import { missing } from "../core/refusals.js";
import { attempt, note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Card, Copy, Empty, Screen, Shown, State, Tabs } from "../parts/basics.js";
import { Choose } from "../parts/fields.js";
import { Bars, Chart } from "../parts/charts.js";
import { Menu, ask } from "../parts/dialog.js";
import { Qr } from "../parts/qr.js";
import { Visitor } from "../parts/visitor.js";
import { Duplicate } from "../parts/duplicate.js";

/** The tabs of a link. @param {string} id @returns {[string, string][]} */
export const tabsOf = (id) => [
  [href("/links/" + api.seg(id)), w.link.clicks], [href(`/links/${api.seg(id)}/rules`), w.rules.title], [href(`/links/${api.seg(id)}/pages`), w.nav.templates],
  [href(`/links/${api.seg(id)}/history`), w.link.history],
];

/** @param {{id: string, query: Record<string, string>}} props */
export default function Link({ id, query }) {
  const link = useLoad((s) => api.get("/links/" + api.seg(id), {}, s), [id]);
  const [copying, setCopying] = useState(false);
  // A link that was just changed reaches the redirectors within a second.
  useEffect(() => {
    if (link.value?.publication.status !== "pending") return;
    const timer = setTimeout(link.reload, 1000);
    return () => clearTimeout(timer);
  }, [link.value]);
  if (missing(link.error)) return html`<${Screen} title=${w.link.gone}><${Empty} icon="link" title=${w.link.goneText}><${Button} href="#/links">${w.nav.links}<//><//><//>`;
  return html`<${Shown} of=${link}>${(l) => html`<${Screen} title=${l.title || bare(l)} crumb=${{ href: "#/links", text: w.nav.links }}
      actions=${html`<${Button} icon="edit" href=${href(`/links/${api.seg(id)}/edit`)}>${w.edit.edit}<//><${Actions} link=${l} changed=${link.set} copy=${() => setCopying(true)} />`}>
    ${copying && html`<${Duplicate} link=${l} close=${() => setCopying(false)} />`}
    <div class="split"><${Card}><${Facts} link=${l} /><//><${Card} title=${w.qr.title}><${Qr} link=${l} /><//></div>
    <div><${Tabs} label=${w.link.parts} places=${tabsOf(id)} at=${href("/links/" + api.seg(id))} /><${Clicks} link=${l} query=${query} /></div>
    <${Asked} link=${l} />
  <//>`}<//>`;
}

/** @param {{link: import("../core/links.js").Link}} props */
const Facts = ({ link: l }) => html`<dl class="facts">
  <dt>${w.link.address}</dt><dd class="row nowrap tight"><a href=${l.url} target="_blank" rel="noopener noreferrer">${bare(l)}</a><${Copy} text=${l.url} /></dd>
  <dt>${w.links.destination}</dt><dd>${l.desktopUrl ? html`<a href=${l.desktopUrl} target="_blank" rel="noopener noreferrer">${l.desktopUrl}</a>` : w.links.page}</dd>
  <dt>${w.links.state}</dt><dd class="row"><${State} of=${l.state} /><${State} of=${l.publication.status} text=${w.published[l.publication.status]} /></dd>
  ${l.lifecycle.startsAt && html`<dt>${w.edit.startsAt}</dt><dd>${moment(l.lifecycle.startsAt)}</dd>`}
  ${l.lifecycle.expiresAt && html`<dt>${w.edit.expiresAt}</dt><dd>${moment(l.lifecycle.expiresAt)}</dd>`}
  ${l.lifecycle.maxClicks && html`<dt>${w.edit.maxClicks}</dt><dd class="number">${w.link.usedOf(number(l.lifecycle.clicks ?? 0), number(l.lifecycle.maxClicks))}
    <progress max=${l.lifecycle.maxClicks} value=${l.lifecycle.clicks ?? 0} aria-label=${w.edit.maxClicks} /></dd>`}
  <dt>${w.links.created}</dt><dd>${moment(l.createdAt)}</dd>
</dl>`;

/** @param {{link: import("../core/links.js").Link, changed: (l: import("../core/links.js").Link) => void, copy: () => void}} props */
function Actions({ link: l, changed, copy }) {
  const path = "/links/" + api.seg(l.id);
  const archived = l.lifecycle.archived;
  const archive = () => attempt(async () => {
    changed(await api.patch(path, { lifecycle: { ...input(l.lifecycle), archived: !archived } }, { revision: l.revision }));
    note(archived ? w.link.restored : w.link.archivedNote);
  });
  const resync = () => attempt(async () => {
    await api.post(path + "/resync", {}, { revision: l.revision });
    note(w.link.resyncing);
  });
  const remove = async () => {
    if (await ask({ title: w.link.deleteTitle(bare(l)), text: w.link.deleteText, action: w.delete, run: () => api.remove(path, l.revision) })) {
      note(w.deleted);
      go("/links");
    }
  };
  return html`<${Menu} label=${w.moreActions} slim=${false}>
    <li><button onClick=${copy}>${w.duplicate.title}</button></li><li><button onClick=${archive}>${archived ? w.chosen.restore : w.chosen.archive}</button></li>
    <li><a href=${href("/qr-codes", { linkId: l.id })}>${w.nav.qrcodes}</a></li><li><button onClick=${resync}>${w.link.resync}</button></li><li><button class="bad" onClick=${remove}>${w.delete}</button></li><//>`;
}

/** What of a lifecycle can be changed. @param {any} lifecycle */
const input = ({ startsAt, expiresAt, maxClicks, expiredUrl }) => ({ startsAt, expiresAt, maxClicks, expiredUrl });

/** The question is asked when the owner opens it. @param {{link: import("../core/links.js").Link}} props */
function Asked({ link: l }) {
  const [open, setOpen] = useState(false);
  return html`<details class="card" onToggle=${(e) => setOpen(e.target.open)}><summary>${w.visitor.title}</summary>${open && html`<${Visitor} link=${l} />`}</details>`;
}

/** @param {{link: import("../core/links.js").Link, query: Record<string, string>}} props */
function Clicks({ link: l, query }) {
  const days = Number(query.days) || 30;
  const dimension = query.by || "country";
  const asked = { appId: app.value.id, linkId: l.id, ...period(days), timezone: period(days).timezone };
  const series = useLoad((s) => api.get("/analytics/timeseries", { ...asked, granularity: granularity(days) }, s), [l.id, days]);
  const by = useLoad((s) => api.get("/analytics/breakdown", { ...asked, dimension, eventType: "click", limit: 12 }, s), [l.id, days, dimension]);
  const name = (v) => {
    if (v === null || v === "") return dimension === "referrer" ? w.link.direct : w.unknown;
    if (dimension === "country") return country(v);
    return /** @type {any} */ (dimension === "device" ? w.devices : dimension === "source" ? w.sources : {})[v] ?? v;
  };
  return html`<div class="stack"><${Card} title=${w.overview.clicksOverTime} actions=${html`<${Choose} class="slim" aria-label=${w.overview.period} value=${String(days)}
      options=${periods.map((d) => [String(d), w.overview.days(d)])} onChange=${(e) => refine({ days: e.target.value })} />`}>
      <${Shown} of=${series}>${(v) => html`<${Chart} buckets=${fill(v.buckets, days)} days=${days} />`}<//><//>
    <${Card} title=${w.link.by} actions=${html`<${Choose} class="slim" aria-label=${w.link.by} value=${dimension} options=${["country", "device", "referrer", "source", "browser", "os"].map((d) => [d, w.dimensions[d]])}
      onChange=${(e) => refine({ by: e.target.value })} />`}>
      <${Shown} of=${by}>${(v) => html`<${Bars} none=${w.link.noClicks} items=${v.items.map((i) => ({ name: name(i.value), n: i.clicks }))} />`}<//><//></div>`;
}
