// The QR code of a link, to look at and to download.

import { html, useEffect, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { href } from "../core/router.js";
import { tell } from "../core/refusals.js";
import { w } from "../core/words.js";
import { Button } from "./basics.js";

/** An address of a file that the API answers, while it is shown. @param {string} path @param {any} query @returns {{url: string, error: any}} */
export function useFile(path, query) {
  const [file, setFile] = useState({ url: "", error: null });
  useEffect(() => {
    const leave = new AbortController();
    let url = "";
    api.file(path, query, leave.signal).then(
      (blob) => setFile({ url: (url = URL.createObjectURL(blob)), error: null }),
      (error) => leave.signal.aborted || setFile({ url: "", error }),
    );
    return () => {
      leave.abort();
      if (url) URL.revokeObjectURL(url);
    };
  }, [path, JSON.stringify(query)]);
  return file;
}

/** @param {{link: import("../core/links.js").Link}} props */
export function Qr({ link }) {
  const path = `/links/${api.seg(link.id)}/qr`;
  const { url, error } = useFile(path, { format: "svg", margin: 2 });
  const name = link.slug.replace(/[^\w-]/g, "_");
  return html`<div class="row">
    ${error ? html`<p class="bad">${tell(error)}</p>` : html`<img class="qr" width="180" height="180" alt=${w.qr.alt(link.url)} src=${url || undefined} />`}
    <div class="stack tight"><${Button} icon="export" href=${api.address(path, { format: "png", size: 1024 })} download=${name + ".png"}>PNG<//>
      <${Button} icon="export" href=${api.address(path, { format: "svg" })} download=${name + ".svg"}>SVG<//>
      <${Button} kind="plain" href=${href("/qr-codes", { linkId: link.id })}>${w.qr.design}<//></div></div>`;
}
