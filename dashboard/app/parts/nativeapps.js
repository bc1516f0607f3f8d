// Which phone apps open the links of a domain. Lists are typed one a line.

import { html } from "../core/ui.js";
import { app } from "../core/session.js";
import { w } from "../core/words.js";
import { Button, Card } from "./basics.js";
import { Area, Check, Text } from "./fields.js";
import { worded } from "./refused.js";
import { Settings } from "./domainsettings.js";

const most = 10;

/** @param {string} text */
const lines = (text) => text.split("\n").map((l) => l.trim()).filter(Boolean);

/** What is wrong with a list, by its lines. @param {import("../core/form.js").Form} form @param {string} name @param {string} words what a line must be */
const wrong = (form, name, words) =>
  Object.keys(form.errors).filter((n) => form.errors[n] && (n === name || n.startsWith(name + ".")))
    .map((n) => (n === name ? form.errors[n] : w.nativeApps.line(Number(n.slice(name.length + 1)) + 1, worded(form, n, words)))).join(" ");

/** @param {any} c */
const valuesOf = (c) => ({
  ios: { on: c.ios !== null, appIds: (c.ios?.appIds ?? own()).join("\n"), paths: (c.ios?.paths ?? ["/*"]).join("\n") },
  android: { apps: (c.android?.apps ?? []).map((a) => ({ ...a, sha256CertFingerprints: a.sha256CertFingerprints.join("\n") })) },
});

/** The iOS app that the app names. */
function own() {
  const { iosTeamId, iosBundleId } = app.value;
  return iosTeamId && iosBundleId ? [iosTeamId + "." + iosBundleId] : [];
}

/** @param {any} v */
const inputOf = (v) => ({
  ios: v.ios.on ? { appIds: lines(v.ios.appIds), paths: lines(v.ios.paths) } : null,
  android: v.android.apps.length ? { apps: v.android.apps.map((a) => ({ packageName: a.packageName.trim(), sha256CertFingerprints: lines(a.sha256CertFingerprints) })) } : null,
});

/** @param {import("./domainsettings.js").Props} props */
export const NativeApps = ({ domain, changed }) => html`<${Settings} domain=${domain} name="native-config" text=${w.nativeApps.text} changed=${changed} values=${valuesOf} input=${inputOf}>${(form) => html`
  <${Card} title="iOS"><div class="stack"><${Check} label=${w.nativeApps.ios} hint=${w.nativeApps.iosHint(domain.hostname)} ...${form.bind("ios.on")} />
    ${form.values.ios.on && html`<${Area} label=${w.nativeApps.appIds} hint=${w.nativeApps.appIdsHint} rows="3" spellcheck=${false} ...${form.bind("ios.appIds")} error=${wrong(form, "ios.appIds", w.nativeApps.notAppId)} />
      <${Area} label=${w.nativeApps.paths} hint=${w.nativeApps.pathsHint} rows="3" spellcheck=${false} ...${form.bind("ios.paths")} error=${wrong(form, "ios.paths", w.nativeApps.notPath)} />
      <p class="muted small">${w.nativeApps.iosLate}</p>`}</div><//>
  <${Card} title="Android"><div class="stack"><p class="muted small">${form.values.android.apps.length ? w.nativeApps.androidHint : w.nativeApps.noAndroid}</p>
    <${Android} form=${form} /></div><//>`}<//>`;

/** @param {{form: import("../core/form.js").Form}} props */
function Android({ form }) {
  const { apps } = form.values.android;
  const set = (list) => form.set("android.apps", list);
  return html`${apps.map((a, i) => html`<fieldset class="stack tight"><legend class="legend">${w.nativeApps.app(i + 1)}</legend>
      <div class="row nowrap slug"><div class="grow"><${Text} label=${w.nativeApps.packageName} placeholder="com.example.shop" maxlength="255" ...${form.bind(`android.apps.${i}.packageName`)} error=${worded(form, `android.apps.${i}.packageName`, w.appScreen.forms.androidPackage)} /></div>
        <${Button} kind="plain" icon="trash" aria-label=${w.nativeApps.removeApp(i + 1)} onClick=${() => set(apps.filter((_, n) => n !== i))} /></div>
      <${Area} label=${w.nativeApps.prints} hint=${w.nativeApps.printsHint} rows="3" spellcheck=${false} ...${form.bind(`android.apps.${i}.sha256CertFingerprints`)}
        error=${wrong(form, `android.apps.${i}.sha256CertFingerprints`, w.nativeApps.notPrint)} /></fieldset>`)}
    <div class="row"><${Button} icon="plus" disabled=${apps.length >= most} onClick=${() => set([...apps, { packageName: app.value.androidPackage ?? "", sha256CertFingerprints: "" }])}>${w.nativeApps.addApp}<//></div>`;
}
