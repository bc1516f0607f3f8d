// A page is published: what the app, domains and links are to have. Each place tells what it has
// now, and is left as it is when that changes meanwhile.

import { html, useEffect, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { href } from "../core/router.js";
import { app, apps } from "../core/session.js";
import { useForm } from "../core/form.js";
import { useCatalog } from "../core/catalog.js";
import { bare } from "../core/format.js";
import { attempt } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Card, Problem, Send } from "./basics.js";
import { Choose, Field, Select } from "./fields.js";
import { LinkPicker } from "./linkpicker.js";
import { Publication } from "./publications.js";
import { foreign, inWords, useNames } from "./choice.js";

const most = 50;

/** @typedef {{key: string, name: string, choice: import("./choice.js").Choice, input: any}} Target input is what the API takes */

/** Reads what a place has now. @param {"app" | "domain" | "link"} scope @param {any} holder @param {string} base @returns {Promise<Target>} */
async function read(scope, holder, base) {
  const id = api.seg(holder.id);
  if (scope === "link") {
    const { revision, selection, bindingRevisions } = await api.get(`/links/${id}/template-selection`);
    return { key: holder.id, name: bare(holder), choice: selection[base], input: { scope, linkId: holder.id, expectedRevision: bindingRevisions[base], expectedLinkRevision: revision } };
  }
  const { defaults, bindingRevisions } = await api.get(`/${scope}s/${id}/template-defaults`);
  const own = scope === "domain" ? { domainId: holder.id } : {};
  return { key: holder.id, name: scope === "app" ? w.publish.app(holder.name) : holder.hostname, choice: defaults[base], input: { scope, ...own, expectedRevision: bindingRevisions[base] } };
}

/** @param {{of: any, version: string, again: () => void}} props version is the one to begin with, empty for the draft */
export function Publish({ of, version, again }) {
  const { template, draft } = of;
  const base = template.baseTemplateId;
  const its = apps.value.find((a) => a.id === template.appId) ?? app.value;
  const domains = (useCatalog("domains") ?? []).filter((d) => d.appId === its.id && !d.detached);
  const [done, setDone] = useState(null);
  const form = useForm({ what: version || "draft", targets: ([]) }, async ({ what, targets }) => {
    const path = "/templates/" + template.id;
    const inputs = targets.map((t) => t.input);
    const taken = what === "official" || what === "inherit";
    setDone(taken
      ? await api.post(path + "/restore", { mode: what, targets: inputs }, { revision: template.revision })
      : await api.post(path + "/publish", { ...(what !== "draft" && { version: Number(what) }), targets: inputs }));
    again();
  });
  /** @type {{what: string, targets: Target[]}} */
  const { what, targets } = form.values;
  const nameOf = useNames(targets.some((t) => foreign(t.choice, template.id)));
  const has = (key) => targets.some((t) => t.key === key);
  const add = (scope, holder) => has(holder.id) || attempt(async () => {
    const target = await read(scope, holder, base);
    form.set("targets", [...targets, target]);
  });
  useEffect(() => {
    if (!done) add("app", its);
  }, [done === null]);

  if (done) {
    return html`<${Card} title=${w.publish.outcome}><${Publication} of=${done} own=${template.id} changed=${setDone} /><//>
      <div class="row"><${Button} onClick=${() => (form.setAll({ what: "draft", targets: [] }), setDone(null))}>${w.publish.again}<//><${Button} kind="plain" href=${href("/templates/" + template.id, { tab: "publications" })}>${w.template.publications}<//></div>`;
  }
  const versions = Array.from({ length: draft.baseVersion ?? 0 }, (_, i) => [String(draft.baseVersion - i), w.versions.version(draft.baseVersion - i)]);
  const wider = what === "official" || what === "inherit";
  return html`<form class="stack" onSubmit=${form.submit} novalidate><${Card}><div class="stack">
      <${Select} label=${w.publish.what} hint=${w.publish.whatHint} options=${[["draft", w.publish.draft], ...versions, ["official", w.publish.official], ["inherit", w.publish.inherit]]} ...${form.bind("what")} error=${form.errors.version} />
      <section class="stack tight"><h2>${w.publish.where}</h2><p class="muted small">${w.publish.whereHint}</p>
        <ul class="list">${targets.map((t, i) => html`<li class="row nowrap spread" key=${t.key}><div class="grow"><strong>${t.name}</strong><p class="muted small">${w.publish.now(inWords(t.choice, nameOf, template.id))}</p>
          ${Object.entries(form.errors).filter(([name]) => name.startsWith(`targets.${i}.`)).map(([, text]) => html`<p class="bad small">${text}</p>`)}</div>
          <${Button} slim kind="plain" icon="close" aria-label=${w.publish.removed(t.name)} onClick=${() => form.set("targets", targets.filter((x) => x !== t))} /></li>`)}</ul>
        ${targets.length === 0 && html`<p class="muted">${w.publish.none}</p>`}
        ${targets.length < most ? html`<div class="pair">
          ${!has(its.id) && html`<div class="field"><${Button} icon="plus" onClick=${() => add("app", its)}>${w.publish.addApp}<//></div>`}
          ${domains.some((d) => !has(d.id)) && html`<${Field} label=${w.publish.addDomain}>${(a) => html`<${Choose} ...${a} key=${targets.length} empty="" value="" options=${domains.filter((d) => !has(d.id)).map((d) => [d.id, d.hostname])}
            onChange=${(e) => add("domain", domains.find((d) => d.id === e.target.value))} />`}<//>`}
          <${LinkPicker} label=${w.publish.addLink} choose=${(l) => add("link", l)} /></div>` : html`<p class="muted">${w.publish.most}</p>`}</section></div><//>
    <div class="sticky stack tight"><${Problem} error=${form.problem} fields=${form.errors} again=${again} />
      <div class="row end">${targets.length > 0 && html`<${Send} form=${form}>${wider ? w.publish.takeBack(targets.length) : w.publish.send(targets.length)}<//>`}</div></div></form>`;
}
