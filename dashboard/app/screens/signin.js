// Signing in: by a one-time link, an identity provider, or a passkey. A link signs in only when a button is
// pressed, so that nobody is signed in as somebody else without noticing.

import { html, useEffect, useState } from "../core/ui.js";
import { auth } from "../core/api.js";
import { go } from "../core/router.js";
import { w } from "../core/words.js";
import { Button, Card, Problem, Says, Waiting } from "../parts/basics.js";
import { Mark } from "../parts/icon.js";
import { passkeys, signInWithPasskey } from "../core/passkey.js";

/** @param {{query: {code?: string, problem?: string}, entered: () => void}} props */
export default function SignIn({ query, entered }) {
  const [options, setOptions] = useState(null);
  const [problem, setProblem] = useState(null);
  const enter = () => {
    go("/");
    entered();
  };
  /** @param {() => Promise<any>} how */
  const by = (how) => how().then(enter, setProblem);

  useEffect(() => {
    document.title = w.signin.title + " · Waymark";
    // The code works once. It leaves the address bar and the history before it is used.
    if (query.code) history.replaceState(null, "", "#/signin");
    auth("GET", "/options").then(setOptions, setProblem);
  }, []);

  const refused = w.signin.problems[query.problem ?? ""] ?? (query.problem && w.signin.problems.other);
  return html`<div class="gate"><main>
    <div class="brand"><${Mark} />Waymark</div>
    <${Card}><div class="stack">
      <h1>${w.signin.title}</h1>
      ${refused && html`<${Says} kind="bad">${refused}<//>`}
      <${Problem} error=${problem} />
      ${!options && !problem && html`<${Waiting} />`}
      ${query.code && !problem && html`<p>${w.signin.once}</p><${Button} kind="main-action" onClick=${() => by(() => auth("POST", "/link", { code: query.code }))}>${w.signin.enter}<//>`}
      ${options?.oidc && html`<${Button} kind="main-action" href="/auth/login?to=/dashboard/">${w.signin.provider(options.issuer)}<//>`}
      ${options?.passkeys && passkeys && html`<${Button} icon="key" kind=${options.oidc || (query.code && !problem) ? "" : "main-action"} onClick=${() => by(signInWithPasskey)}>${w.signin.passkey}<//>`}
      ${(!query.code || problem) && html`<p class="muted small">${w.signin.link}</p><p class="small"><code>waymark session issue --link --email ${w.signin.address}</code></p>`}
    </div><//>
  </main></div>`;
}
