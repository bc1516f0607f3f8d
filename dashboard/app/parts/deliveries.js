// What was sent to a webhook, and what came of it.

import { html, useEffect, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { refine } from "../core/router.js";
import { useList, usePolling } from "../core/load.js";
import { overtaken } from "../core/refusals.js";
import { ago, moment, number } from "../core/format.js";
import { attempt, note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Card, Empty, More, Shown, State } from "./basics.js";
import { Choose } from "./fields.js";
import { Dialog } from "./dialog.js";

const states = ["pending", "delivering", "succeeded", "failed", "cancelled"];
const over = (d) => ["succeeded", "failed", "cancelled"].includes(d.state);

/** @param {string} type */
const eventOf = (type) => w.webhooks.names[type] ?? type;

/** What the receiver answered, or why it did not. @param {any} d */
const answerOf = (d) => [d.httpStatus && w.webhooks.status(d.httpStatus), d.error && (w.webhooks.errors[d.error.code] ?? d.error.message)].filter(Boolean).join(" · ");

/** @param {{id: string, state: string, turn: number, changed: () => void}} props turn grows when there is a new delivery; changed tells that the webhook may have another state */
export function Deliveries({ id, state, turn, changed }) {
  const list = useList(`/webhooks/${api.seg(id)}/deliveries`, { state }, 20);
  const [open, setOpen] = useState(null);
  useEffect(() => {
    if (turn) list.reload();
  }, [turn]);
  // The newest deliveries are looked at until they ended; those that wait for another attempt come later.
  const waiting = list.rows?.slice(0, 5).filter((d) => !over(d) && d.attempts === 0).length ?? 0;
  usePolling(async () => {
    if (!waiting) return true;
    list.reload();
    return false;
  }, [waiting > 0]);
  useEffect(() => {
    if (!waiting && list.rows) changed();
  }, [waiting > 0]);
  const retry = (d) => attempt(async () => {
    await api.post(`/webhook-deliveries/${d.id}/retry`, {}, { revision: d.revision }).catch(async (err) => {
      if (!overtaken(err)) throw err;
      const now = await api.get("/webhook-deliveries/" + d.id);
      return api.post(`/webhook-deliveries/${d.id}/retry`, {}, { revision: now.revision });
    });
    note(w.webhooks.retried);
    setOpen(null);
    list.reload();
  });
  return html`<${Card} title=${w.webhooks.deliveries} actions=${html`<${Choose} class="slim" aria-label=${w.webhooks.state} empty=${w.webhooks.allStates} options=${states.map((s) => [s, w.states[s]])} value=${state}
      onChange=${(e) => refine({ state: e.target.value })} />`}>
    ${open && html`<${Delivery} of=${list.rows?.find((d) => d.id === open.id) ?? open} close=${() => setOpen(null)} retry=${retry} />`}
    <${Shown} of=${list}>${(rows) => rows.length ? html`<ul class="list">${rows.map((d) => html`<li class="row spread" key=${d.id}>
        <div class="grow"><button class="textual" onClick=${() => setOpen(d)}>${eventOf(d.eventType)}</button><p class="muted small">${[answerOf(d), d.nextAttemptAt && !over(d) && `${w.webhooks.next} ${moment(d.nextAttemptAt)}`].filter(Boolean).join(" · ")}</p></div>
        <div class="row"><${State} of=${d.state} /><time class="muted small" datetime=${d.createdAt} title=${moment(d.createdAt)}>${ago(d.createdAt)}</time></div></li>`)}</ul><${More} list=${list} />`
      : html`<${Empty} icon="hook" title=${w.webhooks.noDeliveries}>${!state && html`<p>${w.webhooks.noDeliveriesText}</p>`}<//>`}<//><//>`;
}

/** @param {{of: any, close: () => void, retry: (d: any) => void}} props */
const Delivery = ({ of: d, close, retry }) => html`<${Dialog} title=${eventOf(d.eventType)} close=${close}><div class="stack"><dl class="facts">
    <dt>${w.webhooks.state}</dt><dd><${State} of=${d.state} /></dd><dt>${w.webhooks.at}</dt><dd>${moment(d.createdAt)}</dd><dt>${w.webhooks.attempts}</dt><dd>${number(d.attempts)}</dd>
    ${answerOf(d) && html`<dt>${d.error ? w.webhooks.problem : w.webhooks.answer}</dt><dd>${answerOf(d)}</dd>`}
    ${d.nextAttemptAt && !over(d) && html`<dt>${w.webhooks.next}</dt><dd>${moment(d.nextAttemptAt)}</dd>`}
    <dt>${w.webhooks.eventId}</dt><dd><code>${d.eventId}</code></dd><dt>${w.webhooks.deliveryId}</dt><dd><code>${d.id}</code></dd></dl>
  <div class="row end"><${Button} onClick=${close}>${w.close}<//>${over(d) && html`<${Button} kind="main-action" onClick=${() => retry(d)}>${w.webhooks.retry}<//>`}</div></div><//>`;
