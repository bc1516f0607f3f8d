// The server: whether it is ready, what it is, and how much of it is used and allowed.

import { html } from "../core/ui.js";
import * as api from "../core/api.js";
import { app } from "../core/session.js";
import { useLoad } from "../core/load.js";
import { number, time } from "../core/format.js";
import { w } from "../core/words.js";
import { Button, Card, Copy, Screen, Shown, State } from "../parts/basics.js";

/** Whether the server is ready. It answers 503 while it is not. @param {AbortSignal} signal */
async function health(signal) {
  try {
    const r = await fetch("/readyz", { signal, cache: "no-store" });
    await r.text();
    return r.ok ? "ready" : "notReady";
  } catch {
    return "unreachable";
  }
}

export default function System() {
  const appId = app.value?.id;
  const state = useLoad(health, []);
  const about = useLoad((s) => api.get("/capabilities", {}, s), []);
  const usage = useLoad((s) => (appId ? api.get(`/apps/${api.seg(appId)}/usage`, {}, s) : Promise.resolve(null)), [appId]);
  const again = () => [state, about, usage].forEach((l) => l.reload());
  const root = location.origin + "/v1";
  return html`<${Screen} title=${w.system.title} actions=${html`<${Button} busy=${usage.busy} onClick=${again}>${w.system.reload}<//>`}>
    <${Card} title=${w.system.health}><dl class="facts">
      <dt>${w.domains.state}</dt><dd aria-live="polite">${state.value ? html`<${State} of=${state.value === "ready" ? "ready" : "failed"} text=${w.system[state.value]} />` : w.loading}</dd>
      <${Shown} of=${about}>${(c) => html`<dt>${w.system.environment}</dt><dd>${w.system.environments[c.environment] ?? c.environment}</dd><dt>${w.system.version}</dt><dd>${c.apiVersion}</dd>`}<//>
      <dt>${w.system.address}</dt><dd class="row nowrap tight"><code>${root}</code><${Copy} text=${root} /></dd>
      <dt>${w.system.docs}</dt><dd><a href="/docs/">${w.system.docsText}</a></dd>
      <dt>${w.system.reference}</dt><dd><a href="/docs/reference">${w.system.referenceText}</a></dd></dl><//>
    <${Shown} of=${usage}>${(u) => u && html`<p class="muted">${w.system.usageText}</p>
      <${Meters} title=${w.system.app(app.value?.name ?? "")} limits=${u.sharedLimits.app} usage=${u.sharedUsage.app} />
      <${Meters} title=${w.system.account} limits=${u.sharedLimits.account} usage=${u.sharedUsage.account} />
      <${Meters} title=${w.system.session} limits=${u.limits} usage=${u.usage} />`}<//>
  <//>`;
}

/** What is used of each limit. @param {{title: string, limits: any, usage: any}} props */
const Meters = ({ title, limits, usage }) => html`<${Card} title=${title}><table class="table folds meters"><thead><tr><th>${w.system.what}</th><th colspan="2">${w.system.used}</th><th>${w.system.anew}</th></tr></thead>
  <tbody>${Object.keys(w.system.rows).filter((name) => limits[name] !== undefined).map((name) => {
    const limit = limits[name].limit ?? limits[name];
    const used = usage[name].used ?? usage[name];
    return html`<tr key=${name}><th class="wide" scope="row">${w.system.rows[name]}${limits[name].windowSeconds && html` <span class="muted small">${w.system.per(limits[name].windowSeconds)}</span>`}</th>
      <td class="bar"><progress max=${limit} value=${Math.min(used, limit)} aria-label=${w.system.rows[name]} /></td><td class=${used >= limit ? "number bad" : "number"}>${w.system.of(number(used), number(limit))}</td>
      <td class="narrow muted small">${usage[name].resetAt && used > 0 ? html`<span class="folded">${w.system.anew} </span>${w.system.at(time(usage[name].resetAt))}` : ""}</td></tr>`;
  })}</tbody></table><//>`;
