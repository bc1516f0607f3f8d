// What webhooks have in their forms: an address, events, a description.

import { html } from "../core/ui.js";
import * as api from "../core/api.js";
import { app } from "../core/session.js";
import { orNull, useForm } from "../core/form.js";
import { hostOf, retire, withKey } from "../core/webhookkey.js";
import { w } from "../core/words.js";
import { Button, Problem, Send } from "./basics.js";
import { Check, Group, Text } from "./fields.js";
import { Dialog } from "./dialog.js";

/** What can be chosen: all but the test. */
const events = () => Object.keys(w.webhooks.names).filter((e) => e !== "webhook.test");

/** @param {any} v */
function complete(v) {
  if (v.events.length) return;
  const d = { path: "/events", code: "too_few", message: w.webhooks.noEvent };
  throw new api.Refusal(422, { code: "validation_failed", message: w.refused.validation_failed, details: [d] }, null);
}

/** @param {{form: import("../core/form.js").Form}} props */
function Fields({ form }) {
  const chosen = form.values.events;
  const turn = (e) => form.set("events", chosen.includes(e) ? chosen.filter((x) => x !== e) : [...chosen, e]);
  return html`<${Text} label=${w.webhooks.url} hint=${w.webhooks.urlHint} type="url" inputmode="url" placeholder="https://" maxlength="4096" ...${form.bind("url")} />
    <${Group} legend=${w.webhooks.events}><div class="checks">${events().map((e) => html`<${Check} key=${e} label=${w.webhooks.names[e]} value=${chosen.includes(e)} onInput=${() => turn(e)} />`)}</div>
      ${form.errors.events && html`<p class="bad small">${form.errors.events}</p>`}<//>
    <${Text} label=${w.webhooks.description} maxlength="500" ...${form.bind("description")} />`;
}

/** @param {{close: () => void, made: (issued: any) => void}} props */
export function NewWebhook({ close, made }) {
  const form = useForm({ url: "https://", events: ["link.created", "link.updated", "link.deleted"], description: "" }, async (v) => {
    complete(v);
    const appId = app.value.id;
    made(await withKey("POST", "/webhooks", { appId, url: v.url.trim(), events: v.events, description: orNull(v.description.trim()) }, { appId, url: v.url }));
  });
  return html`<${Dialog} title=${w.webhooks.new} large close=${close}><form class="stack" onSubmit=${form.submit} novalidate><${Fields} form=${form} />
    <p class="says small">${w.webhooks.keyText(hostOf(form.values.url) === form.values.url ? "…" : hostOf(form.values.url))}</p>
    <${Problem} error=${form.problem} fields=${form.errors} />
    <div class="row end"><${Button} onClick=${close}>${w.cancel}<//><${Send} form=${form}>${w.webhooks.make}<//></div></form><//>`;
}

/** @param {{of: any, close: () => void, done: (webhook: any) => void, again: () => void}} props */
export function ChangeWebhook({ of, close, done, again }) {
  const form = useForm({ url: of.url, events: of.events, description: of.description ?? "" }, async (v) => {
    complete(v);
    const path = "/webhooks/" + of.id;
    const led = v.url.trim() !== of.url || String([...v.events].sort()) !== String([...of.events].sort());
    const body = { description: orNull(v.description.trim()), ...(led && { url: v.url.trim(), events: v.events }) };
    // Where it leads is authorized anew, so it gets a key again.
    if (!led) return done(await api.patch(path, body, { revision: of.revision }));
    const changed = await withKey("PATCH", path, body, { appId: of.appId, url: v.url, revision: of.revision });
    await retire(of.authorizedBy).catch(() => {});
    done(changed);
  });
  return html`<${Dialog} title=${hostOf(of.url)} large close=${close}><form class="stack" onSubmit=${form.submit} novalidate><${Fields} form=${form} />
    <p class="muted small">${w.webhooks.changeNote}</p><${Problem} error=${form.problem} fields=${form.errors} again=${again} />
    <div class="row end"><${Button} onClick=${close}>${w.cancel}<//><${Send} form=${form}>${w.save}<//></div></form><//>`;
}
