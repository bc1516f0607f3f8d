// The rules of a link: the first that fits a visitor decides. They are put in order by dragging or
// with the keyboard.

import { html, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { href } from "../core/router.js";
import { useForm } from "../core/form.js";
import { useLoad } from "../core/load.js";
import { orNull } from "../core/form.js";
import { bare, countries } from "../core/format.js";
import { note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Card, Empty, Problem, Screen, Send, Shown, Tabs } from "../parts/basics.js";
import { Instant, Select, Text } from "../parts/fields.js";
import { tabsOf } from "./link.js";

const most = 50;

/** @param {{id: string}} props */
export default function Rules({ id }) {
  const path = "/links/" + api.seg(id);
  const link = useLoad((s) => api.get(path, {}, s), [id]);
  const rules = useLoad((s) => api.get(path + "/routing-rules", {}, s), [id]);
  return html`<${Screen} title=${link.value ? link.value.title || bare(link.value) : w.rules.title} crumb=${{ href: "#/links", text: w.nav.links }}>
    <${Tabs} label=${w.link.parts} places=${tabsOf(id)} at=${href(path + "/rules")} />
    <p class="muted">${w.rules.text}</p>
    <${Shown} of=${rules}>${(v) => html`<${Editor} key=${v.revision} of=${v} saved=${rules.set} again=${rules.reload} />`}<//><//>`;
}

/** @param {{of: any, saved: (v: any) => void, again: () => void}} props */
function Editor({ of, saved, again }) {
  const form = useForm({ rules: of.rules }, async ({ rules }) => {
    saved(await api.put(`/links/${api.seg(of.linkId)}/routing-rules`, { rules: rules.map(input) }, { revision: of.revision }));
    note(w.saved);
  }, { guard: true });
  const { rules } = form.values;
  const [dragged, setDragged] = useState(-1);
  /** @param {number} from @param {number} to */
  function move(from, to) {
    if (to < 0 || to >= rules.length || from < 0) return;
    const next = [...rules];
    next.splice(to, 0, ...next.splice(from, 1));
    form.set("rules", next);
  }
  const add = () => form.set("rules", [...rules, { platform: "", country: "", startsAt: null, expiresAt: null, destinationUrl: "", utm: {} }]);
  return html`<form class="stack" onSubmit=${form.submit} novalidate>
    ${rules.length === 0 && html`<${Card}><${Empty} icon="flag" title=${w.rules.none}><p>${w.rules.noneText}</p><//><//>`}
    <ol class="stack">${rules.map((r, i) => html`<li class="card" draggable=${dragged === i} onDragStart=${() => setDragged(i)} onDragEnd=${() => setDragged(-1)}
      onDragOver=${(e) => {
        e.preventDefault();
        if (dragged >= 0 && dragged !== i) (move(dragged, i), setDragged(i));
      }}>
      <div class="row spread title"><h2 class="row"><span class="grip" title=${w.rules.drag} onPointerDown=${() => setDragged(i)}>⠿</span>${w.rules.rule(i + 1)}</h2><div class="row tight">
        <${Button} slim kind="plain" icon="up" aria-label=${w.rules.up(i + 1)} disabled=${i === 0} onClick=${() => move(i, i - 1)} />
        <${Button} slim kind="plain" icon="down" aria-label=${w.rules.down(i + 1)} disabled=${i === rules.length - 1} onClick=${() => move(i, i + 1)} />
        <${Button} slim kind="plain" icon="trash" aria-label=${w.rules.remove(i + 1)} onClick=${() => form.set("rules", rules.filter((/** @type {any} */ _, /** @type {number} */ n) => n !== i))} /></div></div>
      <div class="stack"><div class="pair">
        <${Select} label=${w.visitor.platform} empty=${w.visitor.any} options=${["android", "ios", "desktop"].map((p) => [p, w.devices[p]])} ...${form.bind(`rules.${i}.platform`)} />
        <${Select} label=${w.visitor.country} empty=${w.visitor.any} options=${countries()} ...${form.bind(`rules.${i}.country`)} />
        ${["startsAt", "expiresAt"].map((n) => html`<${Instant} label=${w.edit[n]} error=${form.errors[`rules.${i}.${n}`]} value=${r[n]} set=${(at) => form.set(`rules.${i}.${n}`, at)} />`)}</div>
        <${Text} label=${w.edit.destination} type="url" placeholder="https://" maxlength="4096" ...${form.bind(`rules.${i}.destinationUrl`)} /></div></li>`)}</ol>
    <div class="row"><${Button} icon="plus" onClick=${add} disabled=${rules.length >= most}>${w.rules.add}<//></div>
    <div class="sticky stack tight"><${Problem} error=${form.problem} fields=${form.errors} again=${again} />
      <div class="row end"><${Send} form=${form}>${w.save}<//></div></div></form>`;
}

/** @param {any} r */
const input = ({ id, platform, country, startsAt, expiresAt, destinationUrl, utm }) => ({
  ...(id && { id }), platform: orNull(platform), country: orNull(country), startsAt, expiresAt, destinationUrl, utm,
});
