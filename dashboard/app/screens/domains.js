// The domains of the app, and what each of them is at.

import { html, useEffect, useRef } from "../core/ui.js";
import * as api from "../core/api.js";
import { href, refine } from "../core/router.js";
import { app } from "../core/session.js";
import { useList } from "../core/load.js";
import { jobs, over } from "../core/jobs.js";
import { w } from "../core/words.js";
import { Button, Empty, More, Screen, Shown, State } from "../parts/basics.js";
import { Check } from "../parts/fields.js";
import { DomainState } from "../parts/connection.js";

/** @param {{query: Record<string, string>}} props */
export default function Domains({ query }) {
  const appId = app.value?.id;
  const list = useList("/domains", !appId ? null : { appId, ...(!query.removed && { detached: "false" }) });
  const running = jobs.value.filter((j) => j.to.startsWith("/domains") && !over(j)).length;
  const before = useRef(running);
  useEffect(() => {
    if (running !== before.current) list.reload();
    before.current = running;
  }, [running]);
  const add = html`<${Button} kind="main-action" icon="plus" href="#/domains/new">${w.domains.add}<//>`;
  return html`<${Screen} title=${w.domains.title} lead=${w.domains.lead} actions=${add}>
    <${Shown} of=${list}>${(rows) => rows.length
      ? html`<div class="card flush scroll"><${Rows} rows=${rows} /></div><${More} list=${list} />`
      : html`<${Empty} icon="globe" title=${w.domains.none}><p>${w.domains.noneText}</p>${add}<//>`}<//>
    <${Check} label=${w.domains.removed} value=${Boolean(query.removed)} onChange=${(e) => refine({ removed: e.target.checked ? "1" : "" })} />
  <//>`;
}

/** @param {{rows: any[]}} props */
const Rows = ({ rows }) => html`<table class="table folds"><thead><tr><th>${w.domains.domain}</th><th>${w.domains.dns}</th><th>${w.domains.https}</th><th>${w.domains.links}</th><th>${w.domains.state}</th></tr></thead>
  <tbody>${rows.map((d) => html`<tr key=${d.id}>
    <th class="wide address" scope="row"><div class="row tight"><a class="cut" href=${href("/domains/" + api.seg(d.id))}>${d.hostname}</a>${d.hostname === app.value?.defaultDomain && html`<span class="tag">${w.domains.usual}</span>`}</div>
      <span class="muted small">${w.domains.kinds[d.mode]}</span></th>
    ${["dns", "https", "links"].map((name) => html`<td class="narrow">${!d.detached && html`<span class="folded muted small">${w.domains[name]} </span><${State} of=${d[name]} text=${name === "https" ? w.domains.httpsStates[d.https] : undefined} />`}</td>`)}
    <td class="narrow"><span class="folded muted small">${w.domains.state} </span><${DomainState} domain=${d} /></td></tr>`)}</tbody></table>`;
