// One domain: how it is connected, and what it serves besides links. A part is read when it is opened.

import { html, useEffect, useRef } from "../core/ui.js";
import * as api from "../core/api.js";
import { go, href, place } from "../core/router.js";
import { useLoad, usePolling } from "../core/load.js";
import { refresh } from "../core/catalog.js";
import { follow, forget, jobs, over } from "../core/jobs.js";
import { missing } from "../core/refusals.js";
import { attempt, note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Copy, Empty, Screen, Says, Shown, Tabs } from "../parts/basics.js";
import { Menu, ask } from "../parts/dialog.js";
import { Connection, DomainState, stateOf } from "../parts/connection.js";
import { NativeApps } from "../parts/nativeapps.js";
import { Recovery, Web } from "../parts/domainsettings.js";
import { DnsRecords } from "../parts/dnsrecords.js";

/** @param {{id: string, query: Record<string, string>}} props */
export default function Domain({ id, query }) {
  const path = "/domains/" + api.seg(id);
  const domain = useLoad((s) => api.get(path, {}, s), [id]);
  const d = domain.value;
  const running = jobs.value.some((j) => j.to === path && !over(j));
  const moving = running || (d && (["checking", "removing"].includes(stateOf(d)) || (d.mode === "platform" && d.https === "pending")));
  usePolling(async () => {
    if (moving) domain.set(await api.get(path));
    return !moving;
  }, [id, moving]);
  const before = useRef(running);
  useEffect(() => {
    if (before.current && !running) domain.reload();
    before.current = running;
  }, [running]);

  // A check begins with the newest revision: whatever changed meanwhile, it is looked at.
  const check = () => attempt(async () => {
    const now = await api.get(path);
    const started = await api.post(path + "/verify", {}, { revision: now.revision });
    const ended = await follow(started.id, { title: w.domain.checking(now.hostname), to: path, appId: now.appId });
    if (ended.status === "succeeded") note(w.domain.isReady(now.hostname));
    if (place.value.path === path) forget(started.id); // The screen itself shows what was found.
    await refresh("domains");
  });
  if (missing(domain.error)) return html`<${Screen} title=${w.domain.gone}><${Empty} icon="globe" title=${w.domain.goneText}><${Button} href="#/domains">${w.nav.domains}<//><//><//>`;
  return html`<${Shown} of=${domain}>${() => html`<${Screen} title=${d.hostname} crumb=${{ href: "#/domains", text: w.nav.domains }}
      lead=${html`<span class="row"><${DomainState} domain=${d} /><span>${w.domains.kinds[d.mode]}</span></span>`}
      actions=${html`<${Copy} text=${d.hostname} slim=${false} label=${w.domain.copy(d.hostname)} />${stateOf(d) !== "removed" && html`<${Menu} label=${w.moreActions} slim=${false}>
        <li><button class="bad" onClick=${() => remove(d, domain.reload)}>${stateOf(d) === "stuck" ? w.domain.removeAgain : w.domain.remove}</button></li><//>`}`}>
    ${d.detached || d.removalState
      ? html`<${Says} kind=${stateOf(d) === "stuck" ? "bad" : ""}>${stateOf(d) === "removing" ? w.domains.states.removing : stateOf(d) === "stuck" ? w.domain.stuckText : d.lastError?.code === "displaced" ? w.domain.problems.displaced : w.domain.removedText}<//>`
      : html`<div><${Tabs} label=${w.domain.parts} places=${tabsOf(d)} at=${href(path, { part: query.part })} /><${Part} key=${query.part} part=${query.part} domain=${d} changed=${domain.reload} check=${check} running=${running} /></div>`}
  <//>`}<//>`;
}

/** @param {any} d @returns {[string, string][]} */
const tabsOf = (d) => ["", "apps", "web", "recovery", ...(d.mode === "managed" ? ["dns"] : [])].map((part) => [href("/domains/" + api.seg(d.id), { part }), w.domain[part || "connection"]]);

/** @param {{part: string, domain: any, changed: () => void, check: () => void, running: boolean}} props */
function Part({ part, domain, changed, check, running }) {
  if (part === "apps") return html`<${NativeApps} domain=${domain} changed=${changed} />`;
  if (part === "web") return html`<${Web} domain=${domain} changed=${changed} />`;
  if (part === "recovery") return html`<${Recovery} domain=${domain} changed=${changed} />`;
  if (part === "dns") return html`<${DnsRecords} domain=${domain} />`;
  return html`<${Connection} domain=${domain} check=${check} running=${running} />`;
}

/** Asks, and takes a domain away from its hostname. @param {any} d @param {() => void} reload */
async function remove(d, reload) {
  let started;
  const run = async () => (started = await api.remove("/domains/" + api.seg(d.id), d.revision));
  if (!(await ask({ title: w.domain.removeTitle(d.hostname), text: w.domain.removeText, action: w.domain.remove, run }))) return reload();
  go("/domains");
  attempt(async () => {
    const ended = await follow(started.id, { title: w.domain.removing(d.hostname), to: "/domains", appId: d.appId });
    if (ended.status === "succeeded") {
      forget(started.id);
      note(w.domain.removed(d.hostname));
    }
    await refresh("domains");
  });
}
