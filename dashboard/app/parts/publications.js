// Publications of a page: how far each is, and what became of it at each place.

import { html } from "../core/ui.js";
import * as api from "../core/api.js";
import { href } from "../core/router.js";
import { apps } from "../core/session.js";
import { useList, usePolling } from "../core/load.js";
import { useCatalog } from "../core/catalog.js";
import { ago, moment } from "../core/format.js";
import { w } from "../core/words.js";
import { Card, Empty, More, Shown, State, Button } from "./basics.js";
import { ask } from "./dialog.js";
import { inWords, useNames } from "./choice.js";

/** @param {{template: any}} props */
export function Publications({ template }) {
  const list = useList("/template-publications", { appId: template.appId, templateId: template.id }, 20);
  return html`<${Shown} of=${list}>${(rows) => rows.length
    ? html`<div class="stack">${rows.map((p) => html`<${Card} key=${p.id}><${Publication} of=${p} own=${template.id} changed=${(now) => list.change(p.id, now)} /><//>`)}<${More} list=${list} /></div>`
    : html`<${Empty} icon="page" title=${w.publish.noPublications}><p>${w.publish.noPublicationsText}</p><${Button} href=${href("/templates/" + template.id, { tab: "publish" })}>${w.template.publish}<//><//>`}<//>`;
}

const underWay = (p) => p.state === "queued" || p.state === "applying";

/**
 * A publication, followed to its end.
 * @param {{of: any, own: string, changed: (now: any) => void}} props own is the page that was published
 */
export function Publication({ of, own, changed }) {
  const path = "/template-publications/" + of.id;
  usePolling(async () => {
    if (!underWay(of)) return true;
    const now = await api.get(path).catch((err) => {
      if (err.status && err.status < 500) throw err;
    });
    if (now) changed(now);
    return now !== undefined && !underWay(now);
  }, [of.revision, underWay(of)]);
  const left = of.targets.some((t) => t.state === "conflict" || t.state === "denied");
  const retry = () => ask({
    title: w.publish.retryTitle, text: w.publish.retryText, action: w.publish.retryAction, run: async () => changed(await api.post(path + "/retry", {}, { revision: of.revision })),
  });
  const domains = useCatalog("domains", of.targets.some((t) => t.domainId));
  const nameOf = useNames(false);
  return html`<div class="stack tight"><div class="row spread"><div class="row"><strong>${w.publish.chose(inWords(of.choice, nameOf, own), of.targets.length)}</strong><${State} of=${of.state} /></div>
      <time class="muted small" datetime=${of.createdAt} title=${moment(of.createdAt)}>${ago(of.createdAt)}</time></div>
    <p role="status" class=${of.state === "confirmed" || underWay(of) ? "muted" : ""}>${w.publish.states[of.state]}</p>
    ${underWay(of) && html`<progress aria-label=${w.publish.outcome} />`}
    <ul class="list">${of.targets.map((t) => html`<li class="row spread"><div class="grow">${t.scope === "app" ? w.publish.app(apps.value.find((a) => a.id === of.appId)?.name ?? "")
        : t.scope === "domain" ? (domains?.find((d) => d.id === t.domainId)?.hostname ?? w.publish.gone) : html`<a href=${href(`/links/${api.seg(t.linkId)}/pages`)}>${w.links.link}</a> <span class="muted">${t.linkId.split(":")[0]}</span>`}
      ${t.error && html`<p class="small muted">${t.error}</p>`}</div><${State} of=${t.state} text=${w.publish.targets[t.state]} /></li>`)}</ul>
    ${["partial", "conflict", "denied"].includes(of.state) && left && html`<div class="row"><${Button} onClick=${retry}>${w.publish.retry}<//></div>`}</div>`;
}
