// The app: its name, its phone apps, what new links begin with, its logo. Forms share its revision.

import { html, useRef } from "../core/ui.js";
import * as api from "../core/api.js";
import { go } from "../core/router.js";
import { app, apps, prefer } from "../core/session.js";
import { useLoad } from "../core/load.js";
import { orNull, useForm } from "../core/form.js";
import { ready, useCatalog } from "../core/catalog.js";
import { completed } from "../core/links.js";
import { note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Card, Copy, Says, Screen, Send, Shown } from "../parts/basics.js";
import { Select, Text } from "../parts/fields.js";
import { ask } from "../parts/dialog.js";
import { Refused, worded } from "../parts/refused.js";
import { AppLogo } from "../parts/applogo.js";

export default function App() {
  const id = app.value?.id;
  return id ? html`<${Settings} key=${id} id=${id} />` : null;
}

/**
 * How the parts of the screen change the app: each under the revision that was seen last, whichever part brought it.
 * @typedef {{path: string, revision: {current: string}, keep: (changes: any) => void, again: () => void}} Shared
 */

/** @param {{id: string}} props */
function Settings({ id }) {
  const path = "/apps/" + api.seg(id);
  const loaded = useLoad((s) => api.get(path, {}, s), [id]);
  const revision = useRef("");
  const read = useRef(null);
  if (loaded.value && read.current !== loaded.value) {
    read.current = loaded.value;
    revision.current = loaded.value.revision;
  }
  const keep = (changes) => {
    revision.current = changes.revision;
    apps.value = apps.value.map((a) => (a.id === id ? { ...a, ...changes } : a));
  };
  const shared = { path, revision, keep, again: loaded.reload };
  return html`<${Screen} title=${w.appScreen.title} lead=${app.value?.name}><${Shown} of=${loaded}>${(a) => html`
    <div class="stack" key=${a.revision}><${Identity} app=${a} shared=${shared} /><${Defaults} app=${a} shared=${shared} /><${AppLogo} appId=${id} shared=${shared} /><${Danger} app=${a} shared=${shared} /></div>`}<//><//>`;
}

const identity = ["name", "scheme", "androidPackage", "iosBundleId", "iosTeamId"];

/** @param {{app: any, shared: Shared}} props */
function Identity({ app: a, shared }) {
  const form = useForm(Object.fromEntries(identity.map((f) => [f, a[f] ?? ""])), async (v) => {
    const input = Object.fromEntries(identity.map((f) => [f, f === "name" ? v[f].trim() : orNull(v[f].trim())]));
    shared.keep(await api.patch(shared.path, input, { revision: shared.revision.current }));
    note(w.saved);
  }, { guard: true });
  const bind = (name) => ({ ...form.bind(name), error: worded(form, name, w.appScreen.forms[name]) });
  return html`<${Card} title=${w.appScreen.identity}><form class="stack" onSubmit=${form.submit} novalidate>
    <${Text} label=${w.appScreen.name} hint=${w.appScreen.nameHint} maxlength="100" ...${form.bind("name")} />
    <${Text} label=${w.appScreen.scheme} hint=${w.appScreen.schemeHint} maxlength="64" autocapitalize="none" ...${bind("scheme")} />
    <${Text} label=${w.appScreen.androidPackage} hint=${w.appScreen.androidHint} maxlength="255" autocapitalize="none" ...${bind("androidPackage")} />
    <div class="pair"><${Text} label=${w.appScreen.iosBundleId} hint=${w.appScreen.androidHint} maxlength="155" autocapitalize="none" ...${bind("iosBundleId")} />
      <${Text} label=${w.appScreen.iosTeamId} hint=${w.appScreen.teamHint} maxlength="10" autocapitalize="characters" ...${bind("iosTeamId")} /></div>
    <p class="muted small">${w.appScreen.opens}</p>
    <dl class="facts"><dt>${w.appScreen.id}</dt><dd class="row nowrap tight"><code>${a.id}</code><${Copy} text=${a.id} /></dd></dl>
    <${Foot} form=${form} shared=${shared} /></form><//>`;
}

/** @param {{app: any, shared: Shared}} props */
function Defaults({ app: a, shared }) {
  const domains = ready(useCatalog("domains")) ?? [];
  const form = useForm({ defaultDomain: a.defaultDomain ?? "", desktopUrl: a.desktopUrl ?? "", playStoreUrl: a.playStoreUrl ?? "", appStoreUrl: a.appStoreUrl ?? "" }, async (v) => {
    const address = (name) => orNull(completed(v[name]));
    const input = { defaultDomain: orNull(v.defaultDomain), desktopUrl: address("desktopUrl"), playStoreUrl: address("playStoreUrl"), appStoreUrl: address("appStoreUrl") };
    const { defaultDomain, desktopUrl, playStoreUrl, appStoreUrl, revision } = await api.put(shared.path + "/defaults", input, { revision: shared.revision.current });
    shared.keep({ defaultDomain, desktopUrl, playStoreUrl, appStoreUrl, revision });
    note(w.saved);
  }, { guard: true });
  const web = (name) => ({ type: "url", maxlength: 4096, ...form.bind(name), onBlur: () => form.set(name, completed(form.values[name])) });
  const { defaultDomain, playStoreUrl: play, appStoreUrl: store } = form.values;
  const hosts = [...new Set([...(defaultDomain ? [defaultDomain] : []), ...domains.map((d) => d.hostname)])];
  return html`<${Card} title=${w.appScreen.defaults}><form class="stack" onSubmit=${form.submit} novalidate>
    <p class="muted">${w.appScreen.defaultsText}</p>
    <${Select} label=${w.appScreen.defaultDomain} empty=${w.appScreen.anyDomain} options=${hosts.map((h) => [h, h])} ...${form.bind("defaultDomain")} />
    <${Text} label=${w.appScreen.desktopUrl} hint=${w.edit.destinationHint} placeholder="https://" ...${web("desktopUrl")} />
    <div class="pair"><${Text} label=${w.appScreen.playStoreUrl} placeholder="https://play.google.com/…" ...${web("playStoreUrl")} />
      <${Text} label=${w.appScreen.appStoreUrl} placeholder="https://apps.apple.com/…" ...${web("appStoreUrl")} /></div>
    ${play || store ? html`<${Says} kind="warn">${w.appScreen.storeWarn(play && store ? w.appScreen.both : play ? w.appScreen.android : w.appScreen.ios)}<//>` : html`<p class="muted small">${w.appScreen.storeHint}</p>`}
    <${Foot} form=${form} shared=${shared} /></form><//>`;
}

/** @param {{form: import("../core/form.js").Form, shared: Shared}} props */
const Foot = ({ form, shared }) => html`<${Refused} form=${form} again=${shared.again} />
  <div class="row end"><${Send} form=${form}>${w.save}<//></div>`;

/** @param {{app: any, shared: Shared}} props */
function Danger({ app: a, shared }) {
  const remove = async () => {
    const { name } = app.value;
    if (!(await ask({ title: w.appScreen.deleteTitle(name), text: w.appScreen.deleteText, action: w.appScreen.delete, run: () => api.remove(shared.path, shared.revision.current) }))) return;
    note(w.deleted);
    go("/");
    apps.value = apps.value.filter((x) => x.id !== a.id);
    if (apps.value.length) await prefer({ selectedAppId: apps.value[0].id });
  };
  return html`<${Card} title=${w.appScreen.danger}><div class="stack"><p class="muted">${w.appScreen.dangerText}</p>
    <div class="row"><${Button} kind="danger" icon="trash" onClick=${remove}>${w.appScreen.delete}<//></div></div><//>`;
}
