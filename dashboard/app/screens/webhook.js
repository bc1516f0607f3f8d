// One webhook: whether it is sent to, and what was sent.

import { html, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { go } from "../core/router.js";
import { useLoad } from "../core/load.js";
import { missing } from "../core/refusals.js";
import { ago, day, moment } from "../core/format.js";
import { attempt, note } from "../core/notes.js";
import { hostOf, retire, withKey } from "../core/webhookkey.js";
import { w } from "../core/words.js";
import { Button, Card, Copy, Empty, Screen, Says, Shown, State } from "../parts/basics.js";
import { Menu, ask } from "../parts/dialog.js";
import { Issued } from "../parts/issued.js";
import { Rotate } from "../parts/key.js";
import { ChangeWebhook } from "../parts/webhook.js";
import { Deliveries } from "../parts/deliveries.js";

const crumb = { href: "#/webhooks", text: w.nav.webhooks };

/** @param {{id: string, query: Record<string, string>}} props */
export default function Webhook({ id, query }) {
  const path = "/webhooks/" + api.seg(id);
  const webhook = useLoad((s) => api.get(path, {}, s), [id]);
  const by = webhook.value?.authorizedBy;
  const key = useLoad((s) => (by?.type === "api_key" ? api.get("/api-keys/" + by.id, {}, s) : Promise.resolve(null)), [by?.id]);
  const [open, setOpen] = useState("");
  const [issued, setIssued] = useState(null);
  const [tested, setTested] = useState(0);
  if (missing(webhook.error)) return html`<${Screen} title=${w.webhooks.gone} crumb=${crumb}><${Empty} icon="hook" title=${w.link.goneText}><${Button} href="#/webhooks">${w.nav.webhooks}<//><//><//>`;
  const close = () => setOpen("");
  const set = (h, text) => {
    webhook.set(h);
    note(text);
    close();
  };
  // It is authorized with a key of its own, also when it was disabled only.
  const enable = (h, text) => attempt(async () => {
    const changed = await withKey("PATCH", path, { enabled: true }, { appId: h.appId, url: h.url, revision: h.revision });
    await retire(h.authorizedBy).catch(() => {});
    set(changed, text);
  }).then(webhook.reload);
  const disable = (h) => attempt(async () => set(await api.patch(path, { enabled: false }, { revision: h.revision }), w.webhooks.disabled)).then(webhook.reload);
  const test = () => attempt(async () => {
    await api.post(path + "/test", {});
    note(w.webhooks.testing);
    setTested((n) => n + 1);
  });
  const remove = async (h) => {
    if (!(await ask({ title: w.webhooks.deleteTitle(hostOf(h.url)), text: w.webhooks.deleteText, action: w.delete, run: () => api.remove(path, h.revision) }))) return webhook.reload();
    await retire(h.authorizedBy).catch(() => {});
    note(w.deleted);
    go("/webhooks");
  };
  return html`<${Shown} of=${webhook}>${(h) => html`<${Screen} title=${hostOf(h.url)} lead=${h.description} crumb=${crumb} actions=${html`<${Button} onClick=${test} disabled=${h.status !== "active"}>${w.webhooks.test}<//>
      ${h.enabled && h.status !== "suspended" && h.status !== "authorization_required" ? html`<${Button} onClick=${() => disable(h)}>${w.webhooks.disable}<//>` : html`<${Button} kind="main-action" onClick=${() => enable(h, w.webhooks.enabled)}>${w.webhooks.enable}<//>`}
      <${Menu} label=${w.moreActions} slim=${false}><li><button onClick=${() => setOpen("change")}>${w.webhooks.edit}</button></li><li><button onClick=${() => setOpen("rotate")}>${w.webhooks.rotate}</button></li>
        <li><button class="bad" onClick=${() => remove(h)}>${w.delete}</button></li><//>`}>
    ${issued && html`<${Issued} title=${w.webhooks.rotated} label=${w.webhooks.secret} secret=${issued.secret} done=${() => setIssued(null)}
      text=${w.webhooks.secretText + (issued.previousSecretExpiresAt ? " " + w.webhooks.oldUntil(moment(issued.previousSecretExpiresAt)) : "")} />`}
    ${open === "change" && html`<${ChangeWebhook} of=${h} close=${close} again=${() => (close(), webhook.reload())} done=${(changed) => set(changed, w.saved)} />`}
    ${open === "rotate" && html`<${Rotate} title=${w.webhooks.rotate} text=${w.webhooks.rotateText} action=${w.webhooks.rotate} close=${close} rotate=${async (overlapSeconds) => {
      const got = await api.post(path + "/rotate-secret", { overlapSeconds }, { revision: h.revision });
      setIssued(got);
      set(got.webhook, w.webhooks.rotated);
    }} />`}
    ${h.status !== "active" && html`<${Says} kind=${h.status === "disabled" ? "" : "warn"}>${w.webhooks.explain[h.status]}<//>`}
    ${h.status === "active" && h.authorizedBy.type === "human" && html`<${Says} kind="warn"><p>${w.webhooks.bySession}</p><p><${Button} slim onClick=${() => enable(h, w.webhooks.authorized)}>${w.webhooks.authorize}<//></p><//>`}
    <${Card}><${Facts} webhook=${h} by=${key.value} /><//>
    <${Deliveries} id=${id} state=${query.state ?? ""} turn=${tested} changed=${webhook.reload} />
  <//>`}<//>`;
}

/** @param {{webhook: any, by: any}} props by is the key that authorized it, if it is one that can be read */
const Facts = ({ webhook: h, by }) => html`<dl class="facts">
  <dt>${w.webhooks.url}</dt><dd class="row nowrap tight"><code>${h.url}</code><${Copy} text=${h.url} /></dd>
  <dt>${w.webhooks.state}</dt><dd class="row"><${State} of=${h.status} />${h.consecutiveFailures > 0 && html`<span class="bad small">${w.webhooks.failures(h.consecutiveFailures)}</span>`}</dd>
  <dt>${w.webhooks.events}</dt><dd>${h.events.map((e) => w.webhooks.names[e] ?? e).join(" · ")}</dd>
  <dt>${w.webhooks.last}</dt><dd>${h.lastSuccessAt ? html`<time datetime=${h.lastSuccessAt} title=${moment(h.lastSuccessAt)}>${ago(h.lastSuccessAt)}</time>` : w.webhooks.never}</dd>
  <dt>${w.webhooks.by}</dt><dd>${h.authorizedBy.type === "human" ? w.webhooks.byYou : by ? html`<a href="#/keys">${by.revokedAt || Date.parse(by.expiresAt) < Date.now() ? w.webhooks.byKeyEnded(by.name) : w.webhooks.byKey(by.name, day(by.expiresAt))}</a>` : "…"}</dd>
</dl>`;
