// The first start: an app, a domain and a link, in one form.

import { html, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { href } from "../core/router.js";
import { apps, open, preferences, prefer } from "../core/session.js";
import { useForm } from "../core/form.js";
import { useLoad } from "../core/load.js";
import { completed, newSlug } from "../core/links.js";
import { follow } from "../core/jobs.js";
import { bare } from "../core/format.js";
import { w } from "../core/words.js";
import { Button, Card, Copy, Problem, Says, Screen, Send, Shown } from "../parts/basics.js";
import { Text } from "../parts/fields.js";
import { Qr } from "../parts/qr.js";

/** A name as a part of a hostname. @param {string} name */
const label = (name) => name.toLowerCase().normalize("NFKD").replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 32);

export default function Start() {
  const [made, setMade] = useState(null);
  // What is made stays made when a later step is refused, so that the form goes on where it was.
  const [app, setApp] = useState(null);
  const [hostname, setHostname] = useState("");
  const [step, setStep] = useState("");
  const form = useForm({ name: "", prefix: "", desktopUrl: "" }, async (v) => {
    try {
      setStep(w.start.makingApp);
      const a = app ?? (await api.post("/apps", { name: v.name }));
      setApp(a);
      const zone = (await api.get("/domain-options", { appId: a.id })).platformZones[0];
      let host = hostname;
      if (zone && !host) {
        setStep(w.start.makingDomain);
        const prefix = v.prefix || label(v.name);
        const o = await api.post("/domains", { appId: a.id, mode: "platform", prefix });
        const ended = await follow(o.id, { title: prefix + "." + zone, to: "/domains", appId: a.id });
        if (ended.status !== "succeeded") throw new Error(ended.error?.message ?? ended.status);
        setHostname((host = prefix + "." + zone));
      }
      if (host && v.desktopUrl) {
        setStep(w.start.makingLink);
        setMade({ link: await api.post("/links", { appId: a.id, domain: host, slug: newSlug(), desktopUrl: completed(v.desktopUrl) }), app: a });
      } else setMade({ app: a });
      if (preferences.value?.selectedAppId !== a.id) await prefer({ selectedAppId: a.id });
    } finally {
      setStep("");
    }
  });
  if (made) return html`<${Done} made=${made} />`;
  const first = apps.value.length === 0;
  return html`<${Screen} title=${first ? w.start.title : w.start.another} lead=${w.start.lead}>
    <form class="stack" onSubmit=${form.submit} novalidate><${Card}><div class="stack">
      <${Text} label=${w.start.name} hint=${w.start.nameHint} maxlength="100" required autofocus disabled=${app !== null} ...${form.bind("name")} />
      <${Text} label=${w.start.prefix} hint=${w.start.prefixHint} maxlength="32" placeholder=${label(form.values.name)} disabled=${hostname !== ""} ...${form.bind("prefix")} />
      <${Text} label=${w.start.destination} hint=${w.edit.destinationHint} type="url" placeholder="https://" maxlength="4096" ...${form.bind("desktopUrl")} /></div><//>
      <${Problem} error=${form.problem} fields=${form.errors} />
      <div class="row end"><span class="muted" role="status">${step}</span><${Send} form=${form}>${w.start.action}<//></div></form><//>`;
}

/** What was made, and where to go on. @param {{made: {link?: any, app: any}}} props */
function Done({ made: { link, app } }) {
  const current = useLoad((s) => (link ? api.get("/links/" + api.seg(link.id), {}, s) : Promise.resolve(null)), []);
  const on = async () => {
    await open();
    await prefer({ selectedAppId: app.id });
  };
  return html`<${Screen} title=${link ? w.start.done : w.start.doneApp}>
    ${!link && html`<${Says}>${w.start.noLink}<//>`}
    ${link && html`<${Card}><div class="stack"><p class="row"><a class="figure" href=${link.url} target="_blank" rel="noopener noreferrer">${bare(link)}</a><${Copy} text=${link.url} slim=${false} /></p>
      <p class="muted">${w.start.leads} ${link.desktopUrl}</p><${Shown} of=${current}>${(l) => html`<${Qr} link=${l} />`}<//></div><//>`}
    <div class="row"><${Button} kind="main-action" href="#/links" onClick=${on}>${w.start.toLinks}<//>${link && html`<${Button} href=${href("/links/" + api.seg(link.id))} onClick=${on}>${w.start.toLink}<//>`}
      <${Button} href="#/domains/new" onClick=${on}>${w.start.ownDomain}<//></div><//>`;
}
