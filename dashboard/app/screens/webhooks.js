// The webhooks of the app.

import { html, useState } from "../core/ui.js";
import { app } from "../core/session.js";
import { useList } from "../core/load.js";
import { ago } from "../core/format.js";
import { w } from "../core/words.js";
import { Button, Empty, More, Screen, Shown, State } from "../parts/basics.js";
import { Issued } from "../parts/issued.js";
import { NewWebhook } from "../parts/webhook.js";

export default function Webhooks() {
  const list = useList("/webhooks", { appId: app.value.id });
  const [open, setOpen] = useState(false);
  const [issued, setIssued] = useState(null);
  const made = (got) => {
    setOpen(false);
    setIssued(got);
    list.reload();
  };
  const fresh = html`<${Button} kind="main-action" icon="plus" onClick=${() => setOpen(true)}>${w.webhooks.new}<//>`;
  return html`<${Screen} title=${w.nav.webhooks} lead=${w.webhooks.lead} actions=${fresh}>
    ${issued && html`<${Issued} title=${w.webhooks.made} label=${w.webhooks.secret} text=${w.webhooks.secretText} secret=${issued.secret} done=${() => setIssued(null)} />`}
    ${open && html`<${NewWebhook} close=${() => setOpen(false)} made=${made} />`}
    <${Shown} of=${list}>${(rows) => rows.length ? html`<div class="card flush menus"><table class="table folds">
        <thead><tr><th>${w.webhooks.url}</th><th>${w.webhooks.events}</th><th>${w.webhooks.last}</th><th>${w.webhooks.state}</th></tr></thead>
        <tbody>${rows.map((h) => html`<tr key=${h.id}><th scope="row"><a class="told" href=${"#/webhooks/" + h.id}>${h.url}</a>${h.description && html`<p class="muted small told">${h.description}</p>`}</th>
          <td class="small">${w.webhooks.count(h.events.length)}</td><td class="small muted">${h.lastSuccessAt ? ago(h.lastSuccessAt) : w.webhooks.never}</td>
          <td class="narrow"><${State} of=${h.status} />${h.consecutiveFailures > 0 && html`<p class="bad small">${w.webhooks.failures(h.consecutiveFailures)}</p>`}</td></tr>`)}</tbody></table></div><${More} list=${list} />`
      : html`<${Empty} icon="hook" title=${w.webhooks.none}><p>${w.webhooks.noneText}</p>${fresh}<//>`}<//>
  <//>`;
}
