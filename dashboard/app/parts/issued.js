// A secret that is shown this once. It stays until the owner says that it is kept.

import { html, useEffect } from "../core/ui.js";
import { leaving } from "../core/router.js";
import { w } from "../core/words.js";
import { Button, Copy } from "./basics.js";

/** How long the secret from before goes on, in seconds. @returns {[string, string][]} */
export const overlaps = () => Object.entries(w.issued.overlaps);

/** @param {{title: string, label: string, secret: string, text?: string, done: () => void}} props */
export function Issued({ title, label, secret, text, done }) {
  useEffect(() => {
    const ask = () => w.issued.leave;
    leaving.add(ask);
    return () => leaving.delete(ask);
  }, [secret]);
  return html`<section class="says good stack tight" role="alert"><h2>${title}</h2>${text && html`<p>${text}</p>`}
    <p><strong>${w.issued.once}</strong></p><p class="row nowrap"><span class="unseen">${label}</span><code class="secret">${secret}</code><${Copy} text=${secret} label=${w.issued.copy} slim=${false} /></p>
    <div class="row"><${Button} onClick=${done}>${w.issued.kept}<//></div></section>`;
}
