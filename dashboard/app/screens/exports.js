// Exports: what the file has is chosen, it is made, and it can be downloaded for a day.

import { html, useEffect, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { place as here } from "../core/router.js";
import { app } from "../core/session.js";
import { useForm } from "../core/form.js";
import { choices, useCatalog } from "../core/catalog.js";
import { follow, forget } from "../core/jobs.js";
import { zone } from "../core/locale.js";
import { period } from "../core/period.js";
import { ago, moment } from "../core/format.js";
import { w } from "../core/words.js";
import { Button, Card, Empty, Problem, Screen, Send, State } from "../parts/basics.js";
import { Instant, Select } from "../parts/fields.js";

/** @typedef {{id: string, operationId: string, title: string, format: string, createdAt: string, expiresAt: string, status: string, error?: string}} Made */

const most = 10;
const place = () => "waymark.exports." + app.value.id;
const over = (status) => !["queued", "running", "cancel_requested"].includes(status);

/** The exports that this browser asked for. @returns {[Made[], (change: (list: Made[]) => Made[]) => void]} */
function useMade() {
  const [list, setList] = useState(() => JSON.parse(localStorage.getItem(place()) ?? "[]"));
  const at = place();
  // Several may end while others are made, so each change begins with what is kept.
  const change = (how) => {
    const next = how(JSON.parse(localStorage.getItem(at) ?? "[]")).slice(0, most);
    localStorage.setItem(at, JSON.stringify(next));
    setList(next);
  };
  return [list, change];
}

export default function Exports() {
  return html`<${Screen} title=${w.nav.exports} lead=${w.exports.lead}><${Body} key=${app.value.id} /><//>`;
}

function Body() {
  const appId = app.value.id;
  const [list, change] = useMade();
  const until = async (e) => {
    const ended = await follow(e.operationId, { title: `${w.nav.exports}: ${e.title}`, to: "/exports", appId }).catch((err) => ({ status: err instanceof api.Refusal ? "gone" : e.status, error: null }));
    if (here.value.path === "/exports") forget(e.operationId); // it is in the list here
    change((all) => all.map((x) => (x.id === e.id ? { ...x, status: ended.status, error: ended.error?.message } : x)));
  };
  useEffect(() => {
    for (const e of list.filter((e) => !over(e.status)).slice(0, 3)) until(e);
  }, []);
  const begun = (e) => {
    change((all) => [e, ...all]);
    until(e);
  };
  return html`<${Ask} begun=${begun} /><${Card} title=${w.exports.past}>${list.length
    ? html`<ul class="list">${list.map((e) => html`<${One} key=${e.id} made=${e} drop=${() => change((all) => all.filter((x) => x.id !== e.id))} />`)}</ul>`
    : html`<${Empty} icon="export" title=${w.exports.none}><p>${w.exports.noneText}</p><//>`}<//>`;
}

/** @param {{made: Made, drop: () => void}} props */
function One({ made: e, drop }) {
  const gone = e.status === "gone" || Date.parse(e.expiresAt) < Date.now();
  return html`<li class="row spread"><div class="grow"><strong>${e.title}</strong><p class="muted small">${e.format.toUpperCase()} · ${ago(e.createdAt)}${e.status === "succeeded" && !gone ? " · " + w.exports.until(moment(e.expiresAt)) : ""}</p>
      ${e.error && html`<p class="bad small">${e.error}</p>`}</div>
    <div class="row">${gone ? html`<${State} of="expired" text=${w.exports.gone} />` : e.status === "succeeded"
      ? html`<${Button} slim icon="export" href=${api.address(`/exports/${e.id}/download`)} download=${`${e.title}.${e.format}`.replace(/[^\p{L}\p{N}. -]/gu, "_")}>${w.exports.download}<//>`
      : html`<${State} of=${e.status} />`}
      ${(gone || over(e.status)) && html`<${Button} slim kind="plain" icon="close" aria-label=${`${w.exports.forget}: ${e.title}`} title=${w.exports.forget} onClick=${drop} />`}</div></li>`;
}

const filters = ["state", "tagId", "folderId", "campaignId", "domain", "createdFrom", "createdTo"];

/** @param {{begun: (e: Made) => void}} props */
function Ask({ begun }) {
  const { start, end } = period(30);
  const form = useForm({ dataset: "links", format: "csv", start, end, group: "", createdFrom: null, createdTo: null }, async (v) => {
    const links = v.dataset === "links";
    const chosen = links ? Object.fromEntries(filters.filter((f) => v[f]).map((f) => [f, v[f]])) : { start: v.start, end: v.end, ...(v.dataset === "summary" && { timezone: zone }), ...(v.group && { group: v.group }) };
    const job = await api.post("/exports", { appId: app.value.id, dataset: v.dataset, format: v.format, filters: chosen });
    const { id, operationId, createdAt, expiresAt } = job;
    begun({ id, operationId, createdAt, expiresAt, format: v.format, title: w.exports.datasets[v.dataset], status: "queued" });
  });
  const { values: v, errors } = form;
  const links = v.dataset === "links";
  const [tags, folders, campaigns, domains] = [useCatalog("tags", links), useCatalog("folders", links), useCatalog("campaigns", links), useCatalog("domains", links)];
  const instant = (name, label) => html`<${Instant} label=${label} name=${name} error=${errors["filters." + name]} value=${v[name]} set=${(at) => form.set(name, at)} />`;
  /** @param {string} name @param {string} label @param {[string, string][]} options */
  const filter = (name, label, options) => options.length > 0 && html`<${Select} label=${label} empty=${w.exports.all} options=${options} ...${form.bind(name)} />`;
  return html`<${Card}><form class="stack" onSubmit=${form.submit} novalidate>
    <div class="pair"><${Select} label=${w.exports.dataset} options=${Object.entries(w.exports.datasets)} ...${form.bind("dataset")} />
      <${Select} label=${w.exports.format} options=${Object.entries(w.exports.formats)} ...${form.bind("format")} /></div>
    ${links ? html`<div class="pair">${filter("state", w.links.state, ["active", "scheduled", "expired", "archived"].map((s) => [s, w.states[s]]))}
        ${filter("tagId", w.links.tag, choices(tags))}${filter("folderId", w.links.folder, choices(folders))}${filter("campaignId", w.links.campaign, choices(campaigns))}
        ${filter("domain", w.links.domain, (domains ?? []).map((d) => [d.hostname, d.hostname]))}</div>
        <div class="pair">${instant("createdFrom", w.exports.madeFrom)}${instant("createdTo", w.exports.madeTo)}</div>`
      : html`<div class="pair">${instant("start", w.exports.from)}${instant("end", w.exports.to)}</div>`}
    <${Problem} error=${form.problem} fields=${errors} />
    <div class="row end"><${Send} form=${form}>${w.exports.start}<//></div></form><//>`;
}
