// Dialogs of API keys: a new one, a narrower one, a new secret.

import { html, useEffect } from "../core/ui.js";
import * as api from "../core/api.js";
import { app, apps } from "../core/session.js";
import { useLoad } from "../core/load.js";
import { useForm } from "../core/form.js";
import { w } from "../core/words.js";
import { Button, Problem, Send, Shown } from "./basics.js";
import { Check, Group, Select, Text } from "./fields.js";
import { Dialog } from "./dialog.js";
import { overlaps } from "./issued.js";
import { Permissions, chosenBy, grantable } from "./permissions.js";

const dayMs = 86400000;
const lifetimes = [7, 30, 90, 180, 365];

/** Refuses what the API would refuse with words that fit less. @param {any} v */
function complete({ appIds, permissions }) {
  const details = [...(appIds.length ? [] : [{ path: "/appIds", code: "too_few", message: w.apiKeys.noApp }]), ...(permissions.length ? [] : [{ path: "/permissions", code: "too_few", message: w.apiKeys.noPermission }])];
  if (details.length) throw new api.Refusal(422, { code: "validation_failed", message: w.refused.validation_failed, details }, null);
}

/** @param {{all: any[], form: import("../core/form.js").Form}} props */
const Apps = ({ all, form }) => html`<${Group} legend=${w.apiKeys.apps}><div class="checks">${all.map((a) => html`<${Check} key=${a.id} label=${a.name} value=${form.values.appIds.includes(a.id)}
  onInput=${() => form.set("appIds", form.values.appIds.includes(a.id) ? form.values.appIds.filter((x) => x !== a.id) : [...form.values.appIds, a.id])} />`)}</div>
  ${form.errors.appIds && html`<p class="bad small">${form.errors.appIds}</p>`}<//>`;

/** @param {{close: () => void, made: (issued: any) => void}} props */
export function NewKey({ close, made }) {
  const capabilities = useLoad((s) => api.get("/capabilities", {}, s), []);
  const all = capabilities.value ? grantable(capabilities.value.operations) : [];
  const form = useForm({ name: "", appIds: [app.value.id], permissions: [], days: "90" }, async (v) => {
    complete(v);
    // An hour less than the days, as the clocks here and there may differ.
    const expiresAt = new Date(Date.now() + Number(v.days) * dayMs - dayMs / 24).toISOString();
    made(await api.post("/api-keys", { name: v.name, appIds: v.appIds, permissions: v.permissions, expiresAt }));
  });
  useEffect(() => {
    if (all.length) form.set("permissions", chosenBy("read", all));
  }, [all.length]);
  return html`<${Dialog} title=${w.apiKeys.new} large close=${close}><form class="stack" onSubmit=${form.submit} novalidate>
    <${Text} label=${w.apiKeys.name} hint=${w.apiKeys.nameHint} maxlength="100" ...${form.bind("name")} />
    <${Apps} all=${apps.value} form=${form} />
    <${Shown} of=${capabilities}>${() => html`<${Permissions} all=${all} chosen=${form.values.permissions} error=${form.errors.permissions} choose=${(p) => form.set("permissions", p)} />`}<//>
    <${Select} label=${w.apiKeys.lasts} options=${lifetimes.map((d) => [String(d), w.apiKeys.days(d)])} ...${form.bind("days")} error=${form.errors.expiresAt} />
    <${Problem} error=${form.problem} fields=${form.errors} />
    <div class="row end"><${Button} onClick=${close}>${w.cancel}<//><${Send} form=${form}>${w.apiKeys.make}<//></div></form><//>`;
}

/** @param {{of: any, close: () => void, done: (key: any) => void}} props */
export function ChangeKey({ of, close, done }) {
  const form = useForm({ name: of.name, appIds: of.appIds, permissions: of.permissions }, async (v) => {
    complete(v);
    const changes = Object.fromEntries(["name", "appIds", "permissions"].filter((f) => String(v[f]) !== String(of[f])).map((f) => [f, v[f]]));
    done(Object.keys(changes).length ? await api.patch("/api-keys/" + of.id, changes, { revision: of.revision }) : of);
  });
  return html`<${Dialog} title=${of.name} large close=${close}><form class="stack" onSubmit=${form.submit} novalidate>
    <p class="muted">${w.apiKeys.changeText}</p><${Text} label=${w.apiKeys.name} maxlength="100" ...${form.bind("name")} />
    <${Apps} all=${apps.value.filter((a) => of.appIds.includes(a.id))} form=${form} />
    <${Permissions} preset=${false} all=${of.permissions} chosen=${form.values.permissions} error=${form.errors.permissions} choose=${(p) => form.set("permissions", p)} />
    <${Problem} error=${form.problem} fields=${form.errors} again=${() => done(null)} />
    <div class="row end"><${Button} onClick=${close}>${w.cancel}<//><${Send} form=${form}>${w.save}<//></div></form><//>`;
}

/**
 * A new secret, and how long the old one goes on.
 * @param {{title: string, text: string, action: string, close: () => void, rotate: (overlapSeconds: number) => Promise<void>}} props
 */
export function Rotate({ title, text, action, close, rotate }) {
  const form = useForm({ overlap: "3600" }, (v) => rotate(Number(v.overlap)));
  return html`<${Dialog} title=${title} close=${close}><form class="stack" onSubmit=${form.submit}><p>${text}</p>
    <${Select} label=${w.issued.overlap} options=${overlaps()} ...${form.bind("overlap")} /><${Problem} error=${form.problem} />
    <div class="row end"><${Button} onClick=${close}>${w.cancel}<//><${Send} form=${form}>${action}<//></div></form><//>`;
}
