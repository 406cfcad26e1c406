import { described, type Machine } from './machine.js';
import { number, of, type Results } from './report.js';

const BAR = { height: 18, gap: 6, left: 330, width: 420 };
const SCENARIOS = ['first page', 'page at 90 %', 'filtered, at 90 %'];

/** Requests a second as bars on a logarithmic scale, legible on light and on dark. */
export function chart({ rows, measurements }: Results, machine: Machine): string {
  const scenarios = SCENARIOS.filter((name) =>
    measurements.some(({ scenario }) => scenario === name),
  );
  const contenders = [...new Set(measurements.map(({ contender }) => contender))];
  // Who answered nothing within a slice has no bar.
  const answered = measurements.map(({ perSecond }) => perSecond).filter((value) => value > 0);
  const most = Math.max(2, ...answered);
  const least = Math.min(1, ...answered);
  const length = (value: number): number =>
    value > 0 ? (BAR.width * Math.log(value / least)) / Math.log(most / least) : 0;
  let y = 46;
  const parts: string[] = [];
  for (const scenario of scenarios) {
    parts.push(text(0, y, scenario, 'title'));
    y += 12;
    for (const contender of contenders) {
      const value = of(measurements, scenario, contender)?.perSecond;
      if (value === undefined) continue;
      const kind = contender.startsWith('this service') ? 'own' : 'other';
      const bar = length(value);
      parts.push(
        text(BAR.left - 8, y + 13, contender, 'label'),
        `<rect class="${kind}" x="${BAR.left}" y="${y}" width="${bar.toFixed(1)}" height="${BAR.height}" rx="2"/>`,
        text(BAR.left + bar + 6, y + 13, number(value), 'value'),
      );
      y += BAR.height + BAR.gap;
    }
    y += 26;
  }
  const heading = `Requests a second on ${rows.toLocaleString('en-US')} products, logarithmic`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 830 ${y + 6}" role="img" aria-label="${heading}">
<style>
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 }
.label { text-anchor: end }
.note { font-size: 10px; fill: #6e7781 }
.own { fill: #1a7f64 }
.other { fill: #9aa4af }
@media (prefers-color-scheme: dark) {
text { fill: #d1d7de }
.note { fill: #8b949e }
.own { fill: #3fb68b }
.other { fill: #5b6570 }
}
</style>
${text(0, 16, heading, 'title')}
${parts.join('\n')}
${text(0, y - 6, described(machine), 'note')}
</svg>
`;
}

function text(x: number, y: number, content: string, kind: string): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text class="${kind}" x="${x.toFixed(1)}" y="${y}">${escaped}</text>`;
}
