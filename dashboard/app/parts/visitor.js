// "What would a visitor get": the redirector's own decision, without a visit.

import { html, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { useLoad } from "../core/load.js";
import { countries } from "../core/format.js";
import { w } from "../core/words.js";
import { Shown, State } from "./basics.js";
import { Instant, Select } from "./fields.js";

/** @param {{link: import("../core/links.js").Link}} props */
export function Visitor({ link }) {
  const [who, setWho] = useState({ platform: "desktop", source: "browser", country: "", at: null });
  const change = (name) => (e) => setWho({ ...who, [name]: e.target.value });
  const got = useLoad((signal) => {
    const { platform, source, country, at } = who;
    return api.post(`/links/${api.seg(link.id)}/preview`, { platform, source, ...(country && { country }), ...(at && { at }) }, { signal });
  }, [link.revision, who]);
  return html`<div class="stack"><div class="pair">
      <${Select} label=${w.visitor.platform} options=${["desktop", "ios", "android"].map((p) => [p, w.devices[p]])} value=${who.platform} onChange=${change("platform")} />
      <${Select} label=${w.visitor.source} options=${["browser", "social"].map((s) => [s, w.sources[s]])} value=${who.source} onChange=${change("source")} />
      <${Select} label=${w.visitor.country} empty=${w.visitor.any} options=${countries()} value=${who.country} onChange=${change("country")} />
      <${Instant} label=${w.visitor.at} value=${who.at} set=${(at) => setWho({ ...who, at })} /></div>
    <${Shown} of=${got}>${(v) => html`<dl class="facts" aria-live="polite">
      <dt>${w.visitor.gets}</dt><dd><${State} of=${v.mode} text=${w.visitor.modes[v.mode]} /></dd>
      ${v.destinationUrl && html`<dt>${w.links.destination}</dt><dd><code>${v.destinationUrl}</code></dd>`}
      ${v.nativeUri && html`<dt>${w.visitor.app}</dt><dd><code>${v.nativeUri}</code> ${w.visitor.openings[v.opening]}</dd>`}
      ${v.fallback && html`<dt>${w.visitor.fallback}</dt><dd><code>${v.fallback}</code></dd>`}
      ${v.matchedRuleId && html`<dt>${w.visitor.rule}</dt><dd>${w.visitor.matched}</dd>`}</dl>`}<//></div>`;
}
