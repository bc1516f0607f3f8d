// How a domain is connected: what is to be set up, what the last check saw, and what comes next.

import { classes, html, useEffect, useRef, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { href } from "../core/router.js";
import { useLoad } from "../core/load.js";
import { ago, moment } from "../core/format.js";
import { w } from "../core/words.js";
import { Button, Card, Copy, Says, Shown, State } from "./basics.js";

/** What a domain is at as a whole. @param {any} d @returns {"ready" | "blocked" | "checking" | "failed" | "fresh" | "removing" | "removed" | "stuck"} */
export function stateOf(d) {
  if (d.removalState) return d.removalState === "failed" ? "stuck" : d.removalState === "removed" ? "removed" : "removing";
  if (d.detached) return "removed";
  if (d.links !== "pending") return d.links;
  return d.ownership === "pending" || d.https === "issuing" ? "checking" : d.lastError ? "failed" : "fresh";
}

/** Errors of which the message says more than the words, as they come from others. */
const told = ["certificate_failed", "probe_failed", "dns_unavailable", "dns_misconfigured"];

const colours = { fresh: "pending", checking: "running", stuck: "failed" };

/** @param {{domain: any}} props */
export const DomainState = ({ domain }) => html`<${State} of=${colours[stateOf(domain)] ?? stateOf(domain)} text=${w.domains.states[stateOf(domain)]} />`;

/** @param {{domain: any, check: () => void, running: boolean}} props */
export function Connection({ domain: d, check, running }) {
  const [open, setOpen] = useState(false);
  const own = d.mode !== "platform";
  // What was seen of the challenge stands only among the details of the last check.
  const wanted = d.lastCheckedAt && (open || (d.challenge && d.ownership === "failed"));
  const details = useLoad((s) => (wanted ? api.get(`/domains/${api.seg(d.id)}/diagnostics`, {}, s) : Promise.resolve(null)), [d.id, Boolean(wanted), d.lastCheckedAt]);
  const seen = details.value?.checks.find((c) => c.name === "ownership")?.observed;
  return html`<div class="stack">
    ${d.lastError && d.links !== "ready" && !running && html`<${Says} kind="bad"><p><strong>${w.domain.problem}</strong> · ${ago(d.lastError.at)}</p>
      <p>${w.domain.problems[d.lastError.code] ?? d.lastError.message}</p>
      ${told.includes(d.lastError.code) && html`<p class="small">${d.lastError.message}</p>`}<//>`}
    ${!own && html`<p class="muted">${w.domain.platformText}</p>`}
    <ol class=${classes("steps", own && "numbered")}>
      ${own && html`<${Step} title=${w.domain.own} of=${d.ownership}>
        ${d.challenge && html`<${Records} done=${d.ownership === "verified"} text=${d.ownership === "verified" ? w.domain.ownDone : w.domain.ownText}
          records=${[{ ...d.challenge, status: "", observed: d.ownership === "verified" ? undefined : seen }]} hostname=${d.hostname} />`}<//>
      <${Step} title=${w.domain.lead} of=${d.dns}><${Lead} domain=${d} /><//>`}
      <${Step} title=${w.domain.certificate} of=${d.https} text=${w.domains.httpsStates[d.https]}><p>${w.domain.certificates[d.https]}</p><//>
      <${Step} title=${w.domain.links} of=${d.links}><p>${w.domain.linksStates[d.links]}</p>
        ${d.links === "ready" && html`<p><${Button} icon="plus" href=${href("/links/new", { domain: d.hostname })}>${w.domain.makeLink}<//></p>`}<//>
    </ol>
    ${open && html`<${Card} title=${w.domain.details}><${Shown} of=${details}>${(v) => v && html`<${Checks} checks=${v.checks.filter((c) => c.name !== "zone" || d.mode === "managed")} />`}<//><//>`}
    <div class="sticky row spread"><p class="muted small" role="status">${running ? w.domain.checkingNow : d.lastCheckedAt ? w.domain.checked(moment(d.lastCheckedAt)) : own ? w.domain.wait : w.domain.neverChecked}</p>
      <div class="row">${d.lastCheckedAt && html`<${Button} aria-expanded=${String(open)} onClick=${() => setOpen(!open)}>${open ? w.domain.hide : w.domain.show}<//>`}
        <${Button} kind=${d.links === "ready" ? "" : "main-action"} busy=${running} onClick=${check}>${w.domain.check}<//></div></div></div>`;
}

/** @param {{title: string, of: string, text?: string, children: any}} props */
const Step = ({ title, of, text, children }) => html`<li class="card"><div class="row spread title"><h2>${title}</h2><${State} of=${of} text=${text} /></div><div class="stack tight">${children}</div></li>`;

/** How the hostname leads here: by records of its own, or by nameservers of a managed domain. @param {{domain: any}} props */
function Lead({ domain: d }) {
  const done = d.dns === "configured";
  if (d.mode !== "managed") return html`<${Records} done=${done} text=${done ? w.domain.leadDone : w.domain.leadText} records=${d.connectionRecords} hostname=${d.hostname} />`;
  if (d.ownership !== "verified") return html`<p>${w.domain.leadLater}</p>`;
  return html`<p>${done ? w.domain.leadDone : w.domain.leadManaged}</p>
    <dl class="facts record">${d.nameservers.map((n) => html`<dt>${w.domain.nameserver}</dt><dd><code>${n}</code><${Copy} text=${n} label=${w.domain.copy(n)} /></dd>`)}</dl>`;
}

/** How a name is written in the zone that most likely has it: many providers add the end by themselves. @param {string} name @param {string} hostname */
function inZone(name, hostname) {
  const zone = hostname.split(".").length > 2 ? hostname.slice(hostname.indexOf(".") + 1) : hostname;
  return { zone, short: name === zone ? "@" : name.slice(0, -zone.length - 1) };
}

/** Records to add at a DNS provider, and what was seen instead. @param {{records: any[], text: string, done: boolean, hostname: string}} props */
function Records({ records, text, done, hostname }) {
  const copied = (text) => html`<span class="row nowrap tight"><code>${text}</code><${Copy} text=${text} label=${w.domain.copy(text)} /></span>`;
  const shown = html`<div class="stack tight">${records.map((r) => html`<dl class="facts record">
    <dt>${w.domain.type}</dt><dd>${copied(r.type)}</dd>
    <dt>${w.domain.name}</dt><dd>${copied(r.name)}</dd>
    <dt>${w.domain.shortName}</dt><dd>${copied(inZone(r.name, hostname).short)}<span class="muted small">${w.domain.inZone(inZone(r.name, hostname).zone)}</span></dd>
    <dt>${w.domain.value}</dt><dd>${copied(r.value)}</dd>
    ${r.ttl && html`<dt>${w.domain.ttl}</dt><dd>${w.domain.seconds(r.ttl)}</dd>`}
    ${r.observed && html`<dt>${w.domain.seen}</dt><dd>${r.status === "pending" ? w.domain.notYet : r.observed.length ? r.observed.map((o) => html`<code>${o}</code>`) : w.domain.nothing}
      ${r.status && r.status !== "pending" && html`<${State} of=${r.status} />`}</dd>`}</dl>`)}</div>`;
  return html`<p>${text}</p>${done ? records.length > 0 && html`<details><summary>${w.domain.showRecords}</summary>${shown}</details>` : shown}`;
}

/** @param {{checks: any[]}} props */
function Checks({ checks }) {
  const box = useRef(null);
  useEffect(() => box.current.parentElement.scrollIntoView({ block: "start" }), []);
  return html`<ul class="list" ref=${box}>${checks.map((c) => html`<li class="stack tight" key=${c.name}>
    <div class="row spread"><strong>${w.domain.checks[c.name] ?? c.name}</strong><${State} of=${c.status} /></div><p class="small">${c.message}</p>
    ${c.status !== "skipped" && (c.expected.length > 0 || c.observed.length > 0) && html`<dl class="facts small"><dt>${w.domain.expected}</dt><dd><code>${c.expected.join(", ") || w.none}</code></dd>
      <dt>${w.domain.seen}</dt><dd><code>${c.observed.join(", ") || w.domain.nothing}</code></dd></dl>`}</li>`)}</ul>`;
}
