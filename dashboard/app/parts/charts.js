// Charts as SVG: attributes only, as the page's policy allows no inline styles.

import { html, useEffect, useRef, useState } from "../core/ui.js";
import { compact, dates, number } from "../core/format.js";
import { w } from "../core/words.js";
import { granularity } from "../core/period.js";

/** The next round number. @param {number} n */
function ceiling(n) {
  const size = 10 ** Math.floor(Math.log10(Math.max(n, 4)));
  return [1, 2, 4, 5, 8, 10].map((m) => m * size).find((m) => m >= n && m % 4 === 0) ?? 4 * Math.ceil(n / 4);
}

/** @param {number} days @returns {Intl.DateTimeFormatOptions} */
const labels = (days) => (granularity(days) === "hour" ? { hour: "numeric" } : granularity(days) === "month" ? { month: "short", year: "2-digit" } : { day: "numeric", month: "short" });

/**
 * Clicks over time.
 * @param {{buckets: {at: Date, clicks: number, unique: number}[], days: number}} props
 */
export function Chart({ buckets, days }) {
  const box = useRef(null);
  const [width, setWidth] = useState(600);
  const [at, setAt] = useState(-1);
  useEffect(() => {
    const watch = new ResizeObserver(() => box.current && setWidth(box.current.clientWidth));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  const [height, left, bottom, top] = [220, 40, 24, 10];
  const most = ceiling(Math.max(...buckets.map((b) => b.clicks)));
  const step = (width - left) / buckets.length;
  const y = (n) => top + (height - top - bottom) * (1 - n / most);
  const every = Math.ceil(64 / step);
  const format = dates(labels(days));
  const total = buckets.reduce((n, b) => n + b.clicks, 0);
  const shown = buckets[at];
  const move = (e) => {
    const x = e.clientX - box.current.getBoundingClientRect().left - left;
    setAt(Math.min(buckets.length - 1, Math.max(0, Math.floor(x / step))));
  };
  return html`<figure ref=${box}>
    <svg class="chart" viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${w.chart.summary(number(total))} onPointerMove=${move} onPointerLeave=${() => setAt(-1)}>
      ${[0, 1, 2, 3, 4].map((i) => html`<g><line x1=${left} x2=${width} y1=${y((most / 4) * i)} y2=${y((most / 4) * i)} />
        <text x=${left - 8} y=${y((most / 4) * i) + 4} text-anchor="end">${compact((most / 4) * i)}</text></g>`)}
      ${buckets.map((b, i) => html`<g>
        ${b.clicks > 0 && html`<rect class="others" x=${left + i * step + step * 0.14} width=${step * 0.72} y=${y(b.clicks)} height=${y(0) - y(b.clicks)} rx="2" />
        <rect x=${left + i * step + step * 0.14} width=${step * 0.72} y=${y(Math.min(b.unique, b.clicks))} height=${y(0) - y(Math.min(b.unique, b.clicks))} rx="2" />`}
        ${i % every === 0 && html`<text x=${left + (i + 0.5) * step} y=${height - 6} text-anchor="middle">${format.format(b.at)}</text>`}</g>`)}
    </svg>
    <figcaption class="row spread small"><span class="muted">${w.chart.legend}</span>
      <span class="number" aria-live="off">${shown ? w.chart.at(format.format(shown.at), number(shown.clicks), number(shown.unique)) : ""}</span></figcaption>
    <table class="unseen"><caption>${w.chart.title}</caption><tbody>${buckets.filter((b) => b.clicks).map((b) => html`<tr><th>${format.format(b.at)}</th><td>${number(b.clicks)}</td></tr>`)}</tbody></table>
  </figure>`;
}

/**
 * The largest of several values.
 * @param {{items: {name: any, n: number, href?: string}[], none: string}} props
 */
export function Bars({ items, none }) {
  const most = Math.max(1, ...items.map((i) => i.n));
  if (!items.length) return html`<p class="muted">${none}</p>`;
  return html`<ol class="bars">${items.map((i) => html`<li>
    <svg preserveAspectRatio="none" viewBox="0 0 100 1" aria-hidden="true"><rect width=${(100 * i.n) / most} height="1" /></svg>
    <span class="cut">${i.href ? html`<a href=${i.href}>${i.name}</a>` : i.name}</span><span class="number">${number(i.n)}</span></li>`)}</ol>`;
}
