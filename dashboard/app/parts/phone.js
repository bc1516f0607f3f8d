// A phone that shows a page as visitors get it.

import { html, useEffect, useRef, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { useLoad } from "../core/load.js";
import { tell } from "../core/refusals.js";
import { w } from "../core/words.js";
import { Choose } from "./fields.js";

const inside = new URL("frame.html", location.href).href;

/**
 * A document of its own within the page. Frames without an address have the dashboard's strict policy, so
 * this one loads frame.html, which takes the document as a message. frame.js says why no script of it can run.
 * @param {{page: string, title: string}} props page is the whole HTML
 */
function Frame({ page, title }) {
  const frame = useRef(null);
  const [ready, setReady] = useState(0);
  useEffect(() => {
    const hear = (e) => e.source === frame.current?.contentWindow && e.origin === location.origin && e.data?.ready && setReady((n) => n + 1);
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, []);
  useEffect(() => {
    if (ready && page) frame.current.contentWindow.postMessage({ html: page }, location.origin);
  }, [ready, page]);
  return html`<iframe ref=${frame} title=${title} src=${inside} />`;
}

/**
 * The preview of a design.
 * @param {{template: any, config: any, name: string}} props config is what the page is drawn with
 */
export function Phone({ template, config, name }) {
  const own = template.baseTemplateId === "android" ? "android" : "ios";
  const [colorScheme, setScheme] = useState("light");
  const [platform, setPlatform] = useState(own);
  const drawn = useLoad((signal) => api.post(`/templates/${api.seg(template.id)}/preview`, { config, colorScheme, platform }, { signal }), [JSON.stringify(config), colorScheme, platform]);
  return html`<div class="stack tight shows"><div class="row">
      <div><${Choose} class="slim" aria-label=${w.template.scheme} value=${colorScheme} options=${["light", "dark"].map((s) => [s, w.template.schemes[s]])} onChange=${(e) => setScheme(e.target.value)} /></div>
      <div><${Choose} class="slim" aria-label=${w.template.platform} value=${platform} options=${["android", "ios", "desktop"].map((p) => [p, w.devices[p]])} onChange=${(e) => setPlatform(e.target.value)} /></div></div>
    <div class="phone"><${Frame} page=${drawn.value?.html ?? ""} title=${w.template.phone(name)} /></div>
    <p class="muted small" role="status">${drawn.error && (drawn.error.details?.length && drawn.value ? w.template.older : tell(drawn.error))}</p></div>`;
}
