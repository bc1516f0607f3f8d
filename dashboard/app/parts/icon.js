// Icons of 24 by 24, drawn for Waymark: lines of two units.

import { html } from "../core/ui.js";

/** @type {Record<string, string>} */
const paths = {
  home: "M4 11l8-7 8 7v8a1 1 0 0 1-1 1h-5v-6h-4v6H5a1 1 0 0 1-1-1z",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1.5 1.5M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1.5-1.5",
  globe: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3.5 9h17M3.5 15h17M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
  tag: "M4 4h8l8 8-8 8-8-8zM8.5 8.5h.01",
  folder: "M3 6h6l2 3h10v10H3z",
  flag: "M5 21V4M5 5h13l-3 4 3 4H5",
  import: "M12 4v11M8 11l4 4 4-4M4 16v4h16v-4",
  export: "M12 15V4M8 8l4-4 4 4M4 16v4h16v-4",
  qr: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2h-2zM18 18h2v2h-2zM18 14h2M14 18v2",
  page: "M7 3h10a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM10.5 18h3",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-2 4 4M15 9h.01",
  key: "M14.5 9.5a4.5 4.5 0 1 0-4 4.5L13 11.5M10 14l2 2M13 11l7-7M17 7l2.5 2.5",
  hook: "M8 14a4 4 0 1 0 4 4v-2h5M12 8a4 4 0 1 1 7 3M9.5 11l2.5-5M5 18l3-5.5",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 3",
  app: "M5 4h6v6H5zM13 4h6v6h-6zM5 12h6v8H5zM13 12h6v8h-6z",
  person: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4 21c0-4 4-6 8-6s8 2 8 6",
  server: "M4 4h16v7H4zM4 13h16v7H4zM8 7.5h.01M8 16.5h.01",
  plus: "M12 5v14M5 12h14",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 13l4 4L19 7",
  close: "M6 6l12 12M18 6L6 18",
  more: "M4.5 12h1M11.5 12h1M18.5 12h1",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5",
  menu: "M4 7h16M4 12h16M4 17h16",
  up: "M12 19V5M6 11l6-6 6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  open: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  edit: "M4 20l1-5L16 4l4 4L9 19zM14 6l4 4",
  trash: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
  archive: "M3 5h18v4H3zM5 9v11h14V9M10 13h4",
  warn: "M12 4L2.5 20h19zM12 10v4M12 17h.01",
  out: "M15 4h5v16h-5M10 8l-4 4 4 4M6 12h10",
};

/** @param {{name: string, class?: string}} props */
export const Icon = ({ name, class: c }) => html`<svg class=${c} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2"
  stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d=${paths[name]} /></svg>`;

export const Mark = () => html`<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="var(--accent)" /><path
  d="M7 10l5 13 4-9 4 9 5-13" fill="none" stroke="var(--on-accent)" stroke-width="3.4" stroke-linejoin="round" stroke-linecap="round" /></svg>`;
