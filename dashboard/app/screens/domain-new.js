// A domain is added: a name below the service's own zone, or a hostname that the owner brings.

import { html } from "../core/ui.js";
import * as api from "../core/api.js";
import { go } from "../core/router.js";
import { app } from "../core/session.js";
import { useLoad } from "../core/load.js";
import { useForm } from "../core/form.js";
import { refresh } from "../core/catalog.js";
import { follow, forget } from "../core/jobs.js";
import { w } from "../core/words.js";
import { Button, Card, Empty, Problem, Screen, Send, Shown } from "../parts/basics.js";
import { Group, Select, Text } from "../parts/fields.js";

export default function DomainNew() {
  const appId = app.value?.id;
  const options = useLoad((s) => api.get("/domain-options", { appId }, s), [appId]);
  return html`<${Screen} title=${w.domainNew.title} crumb=${{ href: "#/domains", text: w.nav.domains }}>
    <${Shown} of=${options}>${(o) => o.modes.length
      ? html`<${NewForm} key=${appId} options=${o} />`
      : html`<${Empty} icon="globe" title=${w.domainNew.none}><p>${w.domainNew.noneText}</p><${Button} href="#/domains">${w.nav.domains}<//><//>`}<//><//>`;
}

/** @param {{options: any}} props */
function NewForm({ options: o }) {
  const appId = app.value.id;
  const zone = o.platformZones[0];
  const form = useForm({ mode: o.modes[0], prefix: "", hostname: "", apexProfileId: o.connection.cname ? "" : (o.apexProfiles[0]?.id ?? "") }, async (v) => {
    const own = v.mode !== "platform";
    const hostname = own ? hostOf(v.hostname) : `${v.prefix.trim().toLowerCase()}.${zone}`;
    const input = own ? { hostname, ...(v.mode === "external" && v.apexProfileId && { apexProfileId: v.apexProfileId }) } : { prefix: v.prefix.trim() };
    const started = await api.post("/domains", { appId, mode: v.mode, ...input });
    const ended = await follow(started.id, { title: w.domainNew.adding(hostname), to: "/domains", appId });
    forget(started.id);
    if (ended.status !== "succeeded") throw new api.Refusal(409, ended.error ?? { code: "resource_conflict", message: w.states[ended.status] }, null);
    await refresh("domains");
    go("/domains/" + api.seg(ended.result.resource.id));
  }, { guard: true });
  const { mode, prefix } = form.values;
  const name = prefix.trim().toLowerCase();
  return html`<form class="stack" onSubmit=${form.submit} novalidate><${Card}><div class="stack">
      <${Group} legend=${w.domainNew.which}>${o.modes.map((m) => html`<label class="choice" key=${m}>
        <input type="radio" name="mode" value=${m} checked=${mode === m} onChange=${() => form.set("mode", m)} />
        <span><strong>${m === "platform" ? w.domainNew.platform(zone) : w.domainNew[m]}</strong><br /><span class="muted small">${w.domainNew[m + "Hint"]}</span></span></label>`)}<//>
      ${mode === "platform"
        ? html`<${Text} label=${w.domainNew.prefix} maxlength=${o.limits.prefix} hint=${name ? w.domainNew.prefixHint(name + "." + zone) : w.domainNew.prefixNone} autocapitalize="none" ...${form.bind("prefix")} />`
        : html`<${Text} label=${w.domainNew.hostname} maxlength="253" hint=${w.domainNew.hostnameHint} placeholder="go.example.com" inputmode="url" autocapitalize="none" ...${form.bind("hostname")} />`}
      ${mode === "external" && o.connection.cname && o.apexProfiles.length > 0 && html`<${Select} label=${w.domainNew.connects} hint=${w.domainNew.connectsHint} empty=${w.domainNew.cname}
        options=${o.apexProfiles.map((p) => [p.id, p.id === "a" ? w.domainNew.byAddress : p.name])} ...${form.bind("apexProfileId")} />`}
    </div><//>
    <${Problem} error=${form.problem} fields=${form.errors} />
    <div class="row end"><${Button} href="#/domains">${w.cancel}<//><${Send} form=${form}>${mode === "platform" ? w.domainNew.make : w.domainNew.next}<//></div></form>`;
}

/** The hostname of what people paste: an address, or a name with a dot at its end. @param {string} text */
const hostOf = (text) => text.trim().toLowerCase().replace(/^https?:\/\//, "").replace(/[/?#].*$/, "").replace(/\.$/, "");
