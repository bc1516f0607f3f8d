// All links of the app: search, filters, and changes of many at once.

import { html, useEffect, useRef, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { href, refine } from "../core/router.js";
import { app } from "../core/session.js";
import { useList, useLoad, useSettled } from "../core/load.js";
import { choices, useCatalog, useNames } from "../core/catalog.js";
import { period } from "../core/period.js";
import { bare, day, number } from "../core/format.js";
import { w } from "../core/words.js";
import { Button, Copy, Empty, More, Screen, Shown, State } from "../parts/basics.js";
import { Choose } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Chosen } from "../parts/chosen.js";

const days = 30;

/** @param {{query: Record<string, string>}} props */
export default function Links({ query }) {
  const appId = app.value.id;
  const [chosen, setChosen] = useState(/** @type {any[]} */ ([]));
  const { q, state, folderId, campaignId, tagId, domain } = query;
  const filter = { q, state, folderId, campaignId, tagId, domain };
  const list = useList("/links", { appId, order: "createdAt:desc", archived: state === "archived" ? "all" : "false", ...filter });
  const clicks = useClicks(appId);
  const filtered = Object.values(filter).some(Boolean);
  useEffect(() => setChosen([]), [JSON.stringify(filter)]);
  const done = () => {
    setChosen([]);
    list.reload();
  };
  return html`<${Screen} title=${w.links.title} actions=${html`<${Button} href="#/imports" icon="import">${w.nav.imports}<//><${Button} kind="main-action" icon="plus" href="#/links/new">${w.nav.create}<//>`}>
    <${Filters} query=${query} />
    ${chosen.length > 0 && html`<${Chosen} links=${chosen} done=${done} clear=${() => setChosen([])} />`}
    <${Shown} of=${list}>${(rows) => rows.length
      ? html`<div class="card flush scroll"><${Rows} rows=${rows} chosen=${chosen} choose=${setChosen} clicks=${clicks} /></div><${More} list=${list} />`
      : filtered
        ? html`<${Empty} icon="search" title=${w.links.noMatch}><${Button} href="#/links">${w.links.allLinks}<//><//>`
        : html`<${Empty} icon="link" title=${w.links.none}><p>${w.links.noneText}</p>
          <div class="row"><${Button} kind="main-action" href="#/links/new">${w.nav.create}<//><${Button} href="#/imports">${w.nav.imports}<//></div><//>`}<//>
  <//>`;
}

/**
 * The clicks of the links that have most of them. A link that is not among these has none, or fewer than all of them.
 * @param {string} appId
 * @returns {(id: string) => string}
 */
function useClicks(appId) {
  const top = useLoad((s) => api.get("/analytics/top-links", { appId, ...period(days), limit: 100 }, s), [appId]);
  const items = top.value?.items;
  if (!items) return () => "";
  const known = new Map(items.map((l) => [l.linkId, l.clicks]));
  const least = items.length === 100 ? items[99].clicks : 0;
  return (id) => (known.has(id) ? number(known.get(id)) : least ? "≤ " + number(least) : "0");
}

/** @param {{rows: any[], chosen: any[], choose: (links: any[]) => void, clicks: (id: string) => string}} props */
function Rows({ rows, chosen, choose, clicks }) {
  const is = (l) => chosen.some((c) => c.id === l.id);
  const turn = (l) => choose(is(l) ? chosen.filter((c) => c.id !== l.id) : [...chosen, l]);
  const folderName = useNames("folders", rows.flatMap((l) => l.folderId ?? []));
  const tagName = useNames("tags", rows.flatMap((l) => l.tagIds));
  return html`<table class="table folds"><thead><tr>
      <th class="narrow"><input class="pick" type="checkbox" aria-label=${w.links.chooseAll} checked=${chosen.length === rows.length} onChange=${() => choose(chosen.length === rows.length ? [] : rows)} /></th>
      <th>${w.links.link}</th><th>${w.links.destination}</th><th class="number">${w.links.clicks(days)}</th><th>${w.links.state}</th><th>${w.links.created}</th></tr></thead>
    <tbody>${rows.map((l) => html`<tr key=${l.id} class=${is(l) ? "chosen" : ""}>
      <td class="narrow"><input class="pick" type="checkbox" aria-label=${w.links.choose(bare(l))} checked=${is(l)} onChange=${() => turn(l)} /></td>
      <th class="wide address" scope="row"><div class="row nowrap tight"><a class="cut" href=${href("/links/" + api.seg(l.id))}>${bare(l)}</a><${Copy} text=${l.url} label=${w.links.copyAddress(bare(l))} /></div>
        <div class="row muted small">${l.title && html`<span class="cut">${l.title}</span>`}${l.folderId && html`<span class="tag">${folderName(l.folderId)}</span>`}
          ${l.tagIds.length > 0 && html`<span class="cut">${l.tagIds.map((id) => html`<bdi>#${tagName(id)}</bdi> `)}</span>`}</div></th>
      <td class="wide"><div class="cut muted destination">${l.desktopUrl ?? w.links.page}</div></td>
      <td class="number">${clicks(l.id)}</td><td class="narrow"><${State} of=${l.state} /></td><td class="narrow muted small">${day(l.createdAt)}</td></tr>`)}</tbody></table>`;
}

/** Search and filters; each that is set is a chip. @param {{query: Record<string, string>}} props */
function Filters({ query }) {
  const [q, setQ] = useState(query.q ?? "");
  const settled = useSettled(q, 250);
  const field = useRef(null);
  useEffect(() => {
    if (settled !== (query.q ?? "")) refine({ q: settled.trim() });
  }, [settled]);
  useEffect(() => {
    if (query.focus === "search") field.current.focus();
  }, []);
  // What can be chosen is read when the filters are opened, or when one is set.
  const [open, setOpen] = useState(false);
  const lists = {
    tagId: useCatalog("tags", open || Boolean(query.tagId)), folderId: useCatalog("folders", open || Boolean(query.folderId)),
    campaignId: useCatalog("campaigns", open || Boolean(query.campaignId)), domain: useCatalog("domains", open),
  };
  /** @type {[string, string, [string, string][]][]} */
  const filters = [
    ["state", w.links.state, ["active", "scheduled", "expired", "archived"].map((s) => [s, w.states[s]])],
    ["tagId", w.links.tag, choices(lists.tagId)],
    ["folderId", w.links.folder, choices(lists.folderId)],
    ["campaignId", w.links.campaign, choices(lists.campaignId)],
    ["domain", w.links.domain, (lists.domain ?? []).map((d) => [d.hostname, d.hostname])],
  ];
  const set = filters.filter(([name]) => query[name]);
  return html`<div class="stack tight"><div class="row">
      <label class="grow searching"><span class="unseen">${w.links.search}</span><input class="input" type="search" data-search ref=${field} placeholder=${w.links.search} value=${q}
        onInput=${(e) => setQ(e.target.value)} /></label>
      <${Button} aria-expanded=${String(open)} onClick=${() => setOpen(!open)}>${w.links.filter}<//></div>
    ${open && html`<div class="row">${filters.filter(([name, , options]) => !query[name] && options.length).map(([name, label, options]) => html`<div><${Choose} class="slim" aria-label=${label} empty=${label} options=${options} value=""
        onChange=${(e) => refine({ [name]: e.target.value })} /></div>`)}</div>`}
    ${set.length > 0 && html`<div class="chips">${set.map(([name, label, options]) => html`<span class="tag">${label}: ${options.find(([v]) => v === query[name])?.[1] ?? query[name]}
      <button aria-label=${w.links.unfilter(label)} onClick=${() => refine({ [name]: "" })}><${Icon} name="close" /></button></span>`)}</div>`}
  </div>`;
}
