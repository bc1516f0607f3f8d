// Before an import is checked: what the columns become, and what holds for all rows.

import { html, useEffect, useRef, useState } from "../core/ui.js";
import { app } from "../core/session.js";
import { ready, useCatalog } from "../core/catalog.js";
import { convert, hosts, insecure, split } from "../core/importing.js";
import { check } from "../core/importrun.js";
import { Refusal } from "../core/api.js";
import { w } from "../core/words.js";
import { Button, Card, Problem, Says, Waiting } from "./basics.js";
import { Check, Select } from "./fields.js";
import { Mapping } from "./mapping.js";

// An app keeps a hundred imports, exports and batches; some are left for others.
const mostParts = 80;

/** The domain of the addresses in a file, and whether it is one of the app's. @param {any} choice @param {any[]} domains */
function homeOf({ file, mapping }, domains) {
  const column = Object.keys(mapping).find((c) => mapping[c] === "url" || mapping[c] === "url.path");
  const found = column ? [...hosts(file, column)].filter(Boolean) : [];
  const here = found.find((h) => domains.some((d) => d.hostname === h));
  return { host: here ?? found[0], here: Boolean(here) };
}

/**
 * @param {{file: any, chosen: (choice: any) => void, leave: () => void, checked: (run: any) => void}} props file is the file with what was chosen for it
 */
export function Prepare({ file: choice, chosen, leave, checked }) {
  const domains = ready(useCatalog("domains"));
  const [done, setDone] = useState(-1);
  const [error, setError] = useState(null);
  const stop = useRef(/** @type {AbortController | null} */ (null));
  const { host, here } = homeOf(choice, domains ?? []);
  // Addresses on a domain that is not here give their paths; those on a domain of the app stay as they are.
  useEffect(() => {
    if (!domains || !host) return;
    const [from, to] = here ? ["url.path", "url"] : ["url", "url.path"];
    chosen({ ...choice, mapping: Object.fromEntries(Object.entries(choice.mapping).map(([c, f]) => [c, f === from ? to : f])) });
  }, [domains === undefined, choice.file]);
  useEffect(() => () => stop.current?.abort(), []);
  if (!domains) return html`<${Waiting} />`;
  const { file, mapping, https, webOnly } = choice;
  const domain = choice.domain ?? (domains.find((d) => d.hostname === app.value.defaultDomain) ?? domains[0])?.hostname ?? "";
  const plain = insecure(file, mapping);
  const addressed = Object.values(mapping).some((f) => ["url", "url.path", "slug"].includes(f));
  const items = convert(file, { mapping, constants: webOnly ? { webOnly: true } : {}, domain, https });
  const { parts, tooLarge } = split(items, file.format);
  const tooMany = parts.length > mostParts;

  async function start() {
    setError(null);
    setDone(0);
    stop.current = new AbortController();
    const { signal } = stop.current;
    try {
      const run = await check(app.value.id, { name: file.name, format: file.format, rows: file.rows.length, parts, tooLarge }, setDone, signal);
      if (!signal.aborted) checked(run);
    } catch (err) {
      if (!signal.aborted) setError(err);
      stop.current.abort();
    } finally {
      setDone(-1);
    }
  }
  const change = (more) => chosen({ ...choice, ...more });
  return html`<${Mapping} file=${file} product=${choice.product} mapping=${mapping} choose=${(m) => change({ mapping: m })} />
    <${Card}><div class="stack">
      ${host && !here && Object.values(mapping).includes("url.path") && html`<p class="muted">${w.imports.foreign(host)}</p>`}
      ${domains.length ? html`<${Select} label=${w.imports.domain} hint=${w.imports.domainHint} value=${domain} options=${domains.map((d) => [d.hostname, d.hostname])} onChange=${(e) => change({ domain: e.target.value })} />`
        : html`<${Says} kind="warn">${w.imports.noDomain} <a href="#/domains/new">${w.nav.domains}</a><//>`}
      ${plain > 0 && html`<${Check} label=${w.imports.https(plain)} hint=${w.imports.httpsHint} value=${https} onInput=${(e) => change({ https: e.target.checked })} />`}
      <${Check} label=${w.imports.webOnly} hint=${w.imports.webOnlyHint} value=${webOnly} onInput=${(e) => change({ webOnly: e.target.checked })} /></div><//>
    <div class="sticky stack tight">
      ${!addressed && html`<${Says} kind="warn">${w.imports.needsAddress}<//>`}
      ${tooMany && html`<${Says} kind="warn">${w.imports.tooMany(Math.floor((file.rows.length * mostParts) / parts.length / 100) * 100 || mostParts)}<//>`}
      <${Problem} error=${error} />${error instanceof Refusal && error.status === 409 && html`<${Says}>${w.imports.full}<//>`}
      ${done >= 0 && html`<div role="status" class="stack tight"><progress aria-label=${w.imports.check} max=${file.rows.length} value=${done} /><span class="small muted">${w.imports.checking(done, file.rows.length)}</span></div>`}
      <div class="row end">${done >= 0 ? html`<${Button} onClick=${() => (stop.current?.abort(), setDone(-1))}>${w.imports.stop}<//>` : html`<${Button} onClick=${leave}>${w.imports.another}<//>`}
        <${Button} kind="main-action" busy=${done >= 0} disabled=${!addressed || tooMany || !domains.length} onClick=${start}>${w.imports.check}<//></div></div>`;
}
