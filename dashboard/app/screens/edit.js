// A link is made or changed.

import { html, useEffect, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { go, href } from "../core/router.js";
import { app } from "../core/session.js";
import { useLoad } from "../core/load.js";
import { useForm } from "../core/form.js";
import { ready, useCatalog } from "../core/catalog.js";
import { completed, inputOf, newSlug, valuesOf } from "../core/links.js";
import { overtaken } from "../core/refusals.js";
import { note } from "../core/notes.js";
import { bare } from "../core/format.js";
import { w } from "../core/words.js";
import { Button, Card, Empty, Problem, Screen, Send, Shown, Waiting } from "../parts/basics.js";
import { Select, Text } from "../parts/fields.js";
import { Address } from "../parts/address.js";
import { Details } from "../parts/details.js";
import { TagPicker } from "../parts/tagpicker.js";
import { Meanwhile } from "../parts/meanwhile.js";

/** @param {{id?: string, query: Record<string, string>}} props */
export default function Edit({ id, query }) {
  return id ? html`<${Existing} id=${id} />` : html`<${New} query=${query} />`;
}

/** @param {{query: Record<string, string>}} props */
function New({ query }) {
  const domains = ready(useCatalog("domains"));
  if (!domains) return html`<${Waiting} />`;
  if (!domains.length) {
    return html`<${Screen} title=${w.edit.newTitle}><${Empty} icon="globe" title=${w.edit.noDomain}><p>${w.edit.noDomainText}</p>
      <${Button} kind="main-action" href="#/domains">${w.nav.domains}<//><//><//>`;
  }
  const usual = domains.find((d) => d.hostname === app.value.defaultDomain) ?? domains[0];
  return html`<${NewForm} domains=${domains} usual=${usual.hostname} query=${query} />`;
}

/** @param {{domains: any[], usual: string, query: Record<string, string>}} props */
function NewForm({ domains, usual, query }) {
  const blank = { domain: query.domain || usual, prefix: "", slug: newSlug(), desktopUrl: query.url ?? "", campaignId: query.campaignId ?? "", tagIds: [], behavior: "manual", webOnly: false, utm: {}, lifecycle: {} };
  const form = useForm(blank, async (v) => {
    const { domain, prefix, slug, tagIds } = v;
    const link = await api.post("/links", { appId: app.value.id, domain, slug, ...(prefix ? { prefix } : {}), ...inputOf(v) });
    if (tagIds.length) {
      await api.put(`/links/${api.seg(link.id)}/tags`, { tagIds }, { revision: link.revision }).catch(() => note(w.edit.untagged, { bad: true }));
    }
    note(w.edit.made(bare(link)));
    go("/links/" + api.seg(link.id));
  }, { guard: true });
  return html`<${Screen} title=${w.edit.newTitle} crumb=${{ href: "#/links", text: w.nav.links }}>
    <form class="stack" onSubmit=${form.submit} novalidate>
      <${Card}><div class="stack"><${Destination} form=${form} focus /><${Address} form=${form} domains=${domains} /><${Basics} form=${form} /></div><//>
      <${Details} form=${form} />
      <${Foot} form=${form} action=${w.edit.make} back="#/links" />
    </form><//>`;
}

/** @param {{id: string}} props */
function Existing({ id }) {
  const path = "/links/" + api.seg(id);
  const link = useLoad((s) => api.get(path, {}, s), [id]);
  const tags = useLoad((s) => api.get(path + "/tags", {}, s), [id]);
  return html`<${Shown} of=${link}>${(l) => html`<${Shown} of=${tags}>${(t) => html`<${Change} key=${id} link=${l} tagIds=${t.tagIds} />`}<//>`}<//>`;
}

/** @param {{link: import("../core/links.js").Link, tagIds: string[]}} props */
function Change({ link, tagIds }) {
  const [before, setBefore] = useState({ ...link, tagIds });
  const [theirs, setTheirs] = useState(null);
  const path = "/links/" + api.seg(link.id);
  const form = useForm({ ...valuesOf(link), tagIds }, async (v) => {
    try {
      let { revision } = before;
      const input = inputOf(v, before);
      if (Object.keys(input).length) ({ revision } = await api.patch(path, input, { revision }));
      if (String(v.tagIds) !== String(before.tagIds)) await api.put(path + "/tags", { tagIds: v.tagIds }, { revision });
      note(w.saved);
      go("/links/" + api.seg(link.id));
    } catch (err) {
      if (!overtaken(err)) throw err;
      const [now, tagged] = await Promise.all([api.get(path), api.get(path + "/tags")]);
      setTheirs({ ...now, tagIds: tagged.tagIds });
      return false;
    }
  }, { guard: true });
  // Theirs are the values to begin with; what the owner has changed is put over them.
  const take = (values) => {
    setBefore(theirs);
    form.setAll(values, { ...valuesOf(theirs), tagIds: theirs.tagIds });
    setTheirs(null);
  };
  return html`<${Screen} title=${bare(link)} crumb=${{ href: href("/links/" + api.seg(link.id)), text: w.edit.back }} actions=${html`<${Button} href=${href(`/links/${api.seg(link.id)}/rules`)}>${w.rules.title}<//>`}>
    <form class="stack" onSubmit=${form.submit} novalidate>
      ${theirs && html`<${Meanwhile} before=${before} mine=${form.values} theirs=${theirs} take=${take} />`}
      <${Card}><div class="stack"><${Destination} form=${form} /><${Basics} form=${form} /></div><//>
      <${Details} form=${form} />
      <${Foot} form=${form} action=${w.save} back=${href("/links/" + api.seg(link.id))} />
    </form><//>`;
}

/** @param {{form: import("../core/form.js").Form, focus?: boolean}} props */
function Destination({ form, focus }) {
  useEffect(() => {
    if (focus) document.getElementsByName("desktopUrl")[0]?.focus();
  }, []);
  return html`<${Text} label=${w.edit.destination} hint=${w.edit.destinationHint} type="url" inputmode="url" placeholder="https://" maxlength="4096" ...${form.bind("desktopUrl")}
    onBlur=${() => form.set("desktopUrl", completed(form.values.desktopUrl ?? ""))} />`;
}

/** @param {{form: import("../core/form.js").Form}} props */
function Basics({ form }) {
  const [folders, campaigns] = [useCatalog("folders"), useCatalog("campaigns")];
  const options = (list) => (list ?? []).map((x) => [x.id, x.name]);
  return html`<${Text} label=${w.edit.title} hint=${w.edit.titleHint} maxlength="200" ...${form.bind("title")} />
    <${TagPicker} chosen=${form.values.tagIds} choose=${(ids) => form.set("tagIds", ids)} />
    <div class="pair">
      <${Select} label=${w.links.folder} empty=${w.none} options=${options(folders)} ...${form.bind("folderId")} />
      <${Select} label=${w.links.campaign} empty=${w.none} options=${options(campaigns)} ...${form.bind("campaignId")} />
    </div>`;
}

/** @param {{form: import("../core/form.js").Form, action: string, back: string}} props */
const Foot = ({ form, action, back }) => html`<div class="sticky stack tight"><${Problem} error=${form.problem} fields=${form.errors} />
  <div class="row end"><${Button} href=${back}>${w.cancel}<//><${Send} form=${form}>${action}<//></div></div>`;
