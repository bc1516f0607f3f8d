// The DNS records of a domain whose DNS is kept here.

import { html, useEffect, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { useForm } from "../core/form.js";
import { useList } from "../core/load.js";
import { note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Copy, Empty, More, Send, Shown, State } from "./basics.js";
import { Dialog, ask } from "./dialog.js";
import { Area, Select, Text } from "./fields.js";
import { Refused } from "./refused.js";

const types = ["A", "AAAA", "CNAME", "TXT", "MX", "CAA", "SRV", "NS"];

/** @param {any} r */
const nameOf = (r) => `${r.type} ${r.name}`;

/** @param {{domain: any}} props */
export function DnsRecords({ domain }) {
  const list = useList(`/domains/${api.seg(domain.id)}/dns-records`, domain.canManageDns && domain.ownership === "verified" ? {} : null);
  const [edited, setEdited] = useState(null);
  // A record is set at the provider some moments after it was changed here.
  useEffect(() => {
    if (!list.rows?.some((r) => r.status === "pending")) return;
    const timer = setTimeout(list.reload, 3000);
    return () => clearTimeout(timer);
  }, [list.rows]);
  if (domain.ownership !== "verified") return html`<${Empty} icon="globe" title=${w.dnsRecords.notYet} />`;
  const remove = async (r) => {
    if (await ask({ title: w.dnsRecords.deleteTitle(nameOf(r)), text: w.dnsRecords.deleteText, action: w.delete, run: () => api.remove(`/domains/${api.seg(domain.id)}/dns-records/${api.seg(r.id)}`, r.revision) })) {
      note(w.deleted);
      list.change(r.id, null);
    } else list.reload();
  };
  const add = html`<${Button} icon="plus" kind="main-action" onClick=${() => setEdited({})}>${w.dnsRecords.add}<//>`;
  return html`<div class="stack"><${Shown} of=${list}>${(rows) => rows.length
      ? html`<div class="row end">${add}</div><div class="card flush scroll"><${Rows} rows=${rows} edit=${setEdited} remove=${remove} /></div><${More} list=${list} />`
      : html`<${Empty} icon="globe" title=${w.dnsRecords.none}>${add}<//>`}<//>
    ${edited && html`<${Edit} key=${edited.revision ?? "new"} domain=${domain} record=${edited} close=${() => setEdited(null)} done=${() => (setEdited(null), list.reload())} />`}</div>`;
}

/** @param {{rows: any[], edit: (r: any) => void, remove: (r: any) => void}} props */
const Rows = ({ rows, edit, remove }) => html`<table class="table folds"><thead><tr><th>${w.dnsRecords.name}</th><th>${w.domain.type}</th><th>${w.dnsRecords.value}</th><th>${w.domain.ttl}</th><th>${w.domains.state}</th><th class="narrow"><span class="unseen">${w.moreActions}</span></th></tr></thead>
  <tbody>${rows.map((r) => html`<tr key=${r.id}><th scope="row"><code>${r.name}</code></th><td class="narrow">${r.type}</td>
    <td class="wide"><div class="row nowrap tight"><code>${r.priority != null ? r.priority + " " : ""}${r.value}</code><${Copy} text=${r.value} label=${w.domain.copy(r.value)} /></div>
      ${r.system && html`<p class="muted small">${w.dnsRecords.system}</p>`}${r.status === "wrong" && html`<p class="small">${w.dnsRecords.observed}: <code>${r.observed.join(", ") || w.domain.nothing}</code></p>`}
      ${r.lastError && html`<p class="small bad">${r.lastError.message}</p>`}</td>
    <td class="narrow muted small">${w.domain.seconds(r.ttl)}</td><td class="narrow"><${State} of=${r.status} text=${w.dnsRecords.states[r.status]} /></td>
    <td class="narrow">${!r.system && html`<div class="row nowrap tight"><${Button} slim kind="plain" icon="edit" aria-label=${w.dnsRecords.change(nameOf(r))} onClick=${() => edit(r)} />
      <${Button} slim kind="plain" icon="trash" aria-label=${w.dnsRecords.remove(nameOf(r))} onClick=${() => remove(r)} /></div>`}</td></tr>`)}</tbody></table>`;

/** A record is added or changed. Its type and name stay as they are. @param {{domain: any, record: any, close: () => void, done: () => void}} props */
function Edit({ domain, record, close, done }) {
  const path = `/domains/${api.seg(domain.id)}/dns-records`;
  const form = useForm({ type: "A", name: "", value: "", ttl: "300", priority: "10", ...record, ...(record.priority != null && { priority: String(record.priority) }) }, async (v) => {
    const input = { value: v.value, ttl: Number(v.ttl), ...(ranked(v.type) && { priority: Number(v.priority) }) };
    if (record.id) await api.patch(path + "/" + api.seg(record.id), input, { revision: record.revision });
    else await api.post(path, { type: v.type, name: v.name.trim(), ...input });
    note(record.id ? w.saved : w.dnsRecords.made);
    done();
  });
  const { type } = form.values;
  return html`<${Dialog} title=${record.id ? w.dnsRecords.edit : w.dnsRecords.add} close=${close}><form class="stack" onSubmit=${form.submit} novalidate>
    ${record.id ? html`<p><code>${nameOf(record)}</code></p>` : html`<div class="pair"><${Select} label=${w.domain.type} options=${types.map((t) => [t, t])} ...${form.bind("type")} />
      <${Text} label=${w.dnsRecords.name} placeholder="www" maxlength="253" autocapitalize="none" ...${form.bind("name")} /></div><p class="muted small">${w.dnsRecords.nameHint(domain.hostname)}</p>`}
    <${Area} label=${w.dnsRecords.value} hint=${w.dnsRecords.forms[type]} rows="2" maxlength="2048" spellcheck=${false} ...${form.bind("value")} />
    <div class="pair"><${Text} label=${w.dnsRecords.ttl} hint=${w.dnsRecords.ttlHint} type="number" min="60" max="86400" ...${form.bind("ttl")} />
      ${ranked(type) && html`<${Text} label=${w.dnsRecords.priority} hint=${w.dnsRecords.priorityHint} type="number" min="0" max="65535" ...${form.bind("priority")} />`}</div>
    <${Refused} form=${form} again=${done} />
    <div class="row end"><${Button} onClick=${close}>${w.cancel}<//><${Send} form=${form}>${w.save}<//></div></form><//>`;
}

/** Whether records of a type have a priority. @param {string} type */
const ranked = (type) => type === "MX" || type === "SRV";
