// The dashboard: it shows the screen of the place, within the frame, to whoever is signed in.

import { html, render, useEffect, useState } from "./core/ui.js";
import { match, place } from "./core/router.js";
import { apps, me, open } from "./core/session.js";
import { loadWords, w } from "./core/words.js";
import { resume } from "./core/jobs.js";
import { Button, Problem, Screen, Waiting } from "./parts/basics.js";
import { Mark } from "./parts/icon.js";
import { Notes, Shell } from "./parts/shell.js";
import { routes } from "./routes.js";

/** Loads a screen when it is first shown. */
function Current() {
  const { path, query } = place.value;
  const found = match(routes, path);
  const [loaded, setLoaded] = useState(null);
  useEffect(() => {
    scrollTo(0, 0);
    let wanted = true;
    found?.found().then(
      (m) => wanted && setLoaded({ load: found.found, of: m.default }),
      (error) => wanted && setLoaded({ load: found.found, error }),
    );
    return () => {
      wanted = false;
    };
  }, [path]);
  if (!found) return html`<${Screen} title=${w.missing.title}><p>${w.missing.text} <a href="#/">${w.missing.home}</a></p><//>`;
  if (loaded?.load !== found.found) return html`<${Waiting} />`;
  // After an upgrade of the server, its files have other addresses.
  if (loaded.error) return html`<${Screen} title=${w.updated.title}><p>${w.updated.text}</p><div class="row"><${Button} kind="main-action" onClick=${() => location.reload()}>${w.reload}<//></div><//>`;
  return html`<${loaded.of} key=${path} ...${found.params} query=${query} />`;
}

function Dashboard() {
  const [error, setError] = useState(null);
  const begin = () => {
    setError(null);
    open().then(resume, setError);
  };
  useEffect(begin, []);
  const [gate, setGate] = useState(null);
  const signIn = me.value === null || place.value.path === "/signin";
  useEffect(() => {
    if (signIn) import("./screens/signin.js").then((m) => setGate(() => m.default));
  }, [signIn]);
  if (error) return html`<div class="gate"><main><${Problem} error=${error} retry=${begin} /></main></div>`;
  if (signIn) return gate && html`<${gate} query=${place.value.query} entered=${begin} />`;
  // As index.html has it.
  if (me.value === undefined) return html`<div class="gate"><div class="brand"><${Mark} />Waymark<span class="unseen" role="status">${w.loading}</span></div></div>`;
  const fresh = apps.value.length === 0 && place.value.path !== "/account";
  return html`<${Shell}><${fresh ? Start : Current} /><//>`;
}

/** The first start: an owner without an app gets one form for all. */
function Start() {
  const [screen, setScreen] = useState(null);
  useEffect(() => {
    import("./screens/start.js").then((m) => setScreen(() => m.default));
  }, []);
  return screen ? html`<${screen} />` : html`<${Waiting} />`;
}

await loadWords();
render(html`<${Dashboard} /><${Notes} />`, document.getElementById("app"));
