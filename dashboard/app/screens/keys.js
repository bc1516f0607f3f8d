// The API keys of the owner.

import { html, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { refine } from "../core/router.js";
import { apps } from "../core/session.js";
import { useList } from "../core/load.js";
import { ago, day, moment } from "../core/format.js";
import { note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Empty, More, Screen, Shown, State } from "../parts/basics.js";
import { Choose } from "../parts/fields.js";
import { Menu, ask } from "../parts/dialog.js";
import { Issued } from "../parts/issued.js";
import { ChangeKey, NewKey, Rotate } from "../parts/key.js";

/** The state of a key. One that is rotated may go on for a while. @param {any} k */
function stateOf(k) {
  const past = (at) => at !== null && Date.parse(at) <= Date.now();
  return past(k.revokedAt) ? "revoked" : past(k.expiresAt) ? "expired" : k.revokedAt ? "ending" : "active";
}

/** @param {{query: Record<string, string>}} props */
export default function Keys({ query }) {
  const list = useList("/api-keys", { status: query.status });
  const [open, setOpen] = useState(/** @type {{what: string, key?: any}} */ ({ what: "" }));
  const [issued, setIssued] = useState(null);
  const close = () => setOpen({ what: "" });
  const done = (got, title) => {
    setIssued({ title, secret: got.secret });
    close();
    list.reload();
  };
  const revoke = async (k) => {
    if (await ask({ title: w.apiKeys.revokeTitle(k.name), text: w.apiKeys.revokeText, action: w.apiKeys.revoke, run: () => api.remove("/api-keys/" + k.id, k.revision) })) {
      note(w.apiKeys.revoked);
      list.reload();
    }
  };
  const fresh = html`<${Button} kind="main-action" icon="plus" onClick=${() => setOpen({ what: "new" })}>${w.apiKeys.new}<//>`;
  return html`<${Screen} title=${w.nav.keys} lead=${w.apiKeys.lead} actions=${fresh}>
    ${issued && html`<${Issued} title=${issued.title} label=${w.apiKeys.secret} secret=${issued.secret} done=${() => setIssued(null)} />`}
    ${open.what === "new" && html`<${NewKey} close=${close} made=${(got) => done(got, w.apiKeys.made(got.key.name))} />`}
    ${open.what === "change" && html`<${ChangeKey} of=${open.key} close=${close} done=${(k) => {
      if (k) note(w.saved);
      close();
      list.reload();
    }} />`}
    ${open.what === "rotate" && html`<${Rotate} title=${w.apiKeys.rotateTitle(open.key.name)} text=${w.apiKeys.rotateText} action=${w.apiKeys.rotate} close=${close}
      rotate=${async (overlapSeconds) => done(await api.post(`/api-keys/${open.key.id}/rotate`, { overlapSeconds }, { revision: open.key.revision }), w.apiKeys.rotated(open.key.name))} />`}
    <div class="row"><${Choose} class="slim" aria-label=${w.apiKeys.state} empty=${w.apiKeys.all} options=${["active", "expired", "revoked"].map((s) => [s, w.apiKeys.states[s]])} value=${query.status ?? ""}
      onChange=${(e) => refine({ status: e.target.value })} /></div>
    <${Shown} of=${list}>${(rows) => rows.length ? html`<div class="card flush menus"><${Rows} rows=${rows} open=${setOpen} revoke=${revoke} /></div><${More} list=${list} />`
      : query.status ? html`<${Empty} icon="search" title=${w.apiKeys.noMatch}><${Button} href="#/keys">${w.names.showAll}<//><//>`
        : html`<${Empty} icon="key" title=${w.apiKeys.none}><p>${w.apiKeys.noneText}</p>${fresh}<//>`}<//>
  <//>`;
}

/** @param {{rows: any[], open: (o: any) => void, revoke: (k: any) => void}} props */
function Rows({ rows, open, revoke }) {
  const names = (ids) => ids.map((id) => apps.value.find((a) => a.id === id)?.name ?? id).join(", ") || w.none;
  return html`<table class="table folds"><thead><tr><th>${w.apiKeys.name}</th><th>${w.apiKeys.apps}</th><th>${w.apiKeys.permissions}</th><th>${w.apiKeys.used}</th><th>${w.apiKeys.expires}</th><th>${w.apiKeys.state}</th><th><span class="unseen">${w.moreActions}</span></th></tr></thead>
    <tbody>${rows.map((k) => {
      const state = stateOf(k);
      const works = state === "active" || state === "ending";
      return html`<tr key=${k.id}><th scope="row">${k.name}<p class="muted small told"><code>${k.prefix}…</code></p></th><td class="small">${names(k.appIds)}</td>
        <td class="small" title=${k.permissions.join(", ")}>${w.apiKeys.count(k.permissions.length)}</td><td class="small muted">${k.lastUsedAt ? ago(k.lastUsedAt) : w.apiKeys.never}</td>
        <td class="small muted" title=${moment(k.revokedAt ?? k.expiresAt)}>${day(k.revokedAt ?? k.expiresAt)}</td><td><${State} of=${{ active: "active", ending: "warning", expired: "expired", revoked: "revoked" }[state] ?? ""} text=${w.apiKeys.states[state]} /></td>
        <td class="narrow last">${works && html`<${Menu} label=${w.names.actions(k.name)}>
          ${state === "active" && html`<li><button onClick=${() => open({ what: "change", key: k })}>${w.apiKeys.change}</button></li><li><button onClick=${() => open({ what: "rotate", key: k })}>${w.apiKeys.rotate}</button></li>`}
          <li><button class="bad" onClick=${() => revoke(k)}>${w.apiKeys.revoke}</button></li><//>`}</td></tr>`;
    })}</tbody></table>`;
}
