import type { Settings } from '../runs/bench/capacity';
import { deletionParts, deliveryParts, type Part, today } from '../runs/bench/capacity-parts';

const width = 1_000;
/** Where the axis begins and ends, in pixels, and the powers of ten that it shows. */
const axis = { left: 330, right: 960, lowest: 1, highest: 7 };
const row = { height: 30, bar: 10 };
const heading = 46;
const multiples = [1, 10, 100, 1_000];
const colours = ['one', 'two'];

const x = (rate: number): number =>
  Math.round(
    axis.left + ((Math.log10(rate) - axis.lowest) / (axis.highest - axis.lowest)) * (axis.right - axis.left),
  );

/** An SVG: for each part a bar for each region, as long as the logarithm of what it carries a second. */
export function chartOf(regions: Readonly<Record<string, Settings>>): string {
  const names = Object.keys(regions);
  const settings = Object.values(regions);
  const panels: string[] = [];
  let top = 34;
  for (const [title, parts] of [
    ['Deletions a second', deletionParts],
    ['Deliveries a second', deliveryParts],
  ] as const) {
    panels.push(panel(title, parts, settings, top));
    top += heading + parts.length * row.height + 34;
  }
  const legend = names.map((name, index) => {
    const left = axis.left + index * 90;
    return `<rect class="${colours[index]}" x="${left}" y="10" width="12" height="12"/>${text('', left + 18, 20, name)}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" font-family="system-ui, sans-serif" font-size="12" role="img">
<title>What each part of a region carries a second, on a logarithmic scale, with today's rate and its multiples</title>
<style>
  :root { --page: #fff; --ink: #16191f; --faint: #5f6b7a; --line: #d5dbdb; --one: #2074d5; --two: #d9662b; --limit: #c22; }
  @media (prefers-color-scheme: dark) {
    :root { --page: #0f1b2a; --ink: #e9ebed; --faint: #a4b0bd; --line: #354150; --one: #6cb0ff; --two: #ff9d5c; --limit: #ff7a7a; }
  }
  .page { fill: var(--page); } text { fill: var(--ink); } .faint { fill: var(--faint); font-size: 11px; }
  .own { font-weight: 600; } .title { font-weight: 700; font-size: 15px; } .grid { stroke: var(--line); }
  .one { fill: var(--one); } .two { fill: var(--two); } .today { stroke: var(--limit); stroke-dasharray: 5 3; }
  .todayLabel { fill: var(--limit); font-size: 11px; }
</style>
<rect class="page" width="${width}" height="${top}"/>
${legend.join('\n')}
${panels.join('\n')}
</svg>
`;
}

function panel(title: string, parts: readonly Part[], settings: readonly Settings[], top: number): string {
  const begin = top + heading;
  const end = begin + parts.length * row.height;
  const least = ({ limit }: Part) => Math.min(...settings.map((each) => limit(each) ?? 10 ** axis.highest));
  const rate = Math.min(...settings.map((each) => today(parts, each)));
  const powers = Array.from({ length: axis.highest - axis.lowest + 1 }, (_, index) => axis.lowest + index);
  return [
    text('title', 12, top + 20, title),
    ...powers.flatMap((power) => [
      line('grid', x(10 ** power), begin, end),
      text('faint', x(10 ** power), end + 16, (10 ** power).toLocaleString('en'), 'middle'),
    ]),
    ...[...parts]
      .sort((a, b) => least(a) - least(b))
      .flatMap((part, index) => {
        const y = begin + index * row.height;
        const bars = settings.map((each, region) => {
          const limit = part.limit(each);
          const length = limit === undefined ? 0 : x(Math.min(limit, 10 ** axis.highest)) - axis.left;
          return `<rect class="${colours[region]}" x="${axis.left}" y="${y + 5 + region * row.bar}" width="${length}" height="${row.bar - 1}"/>`;
        });
        return [text(part.own ? 'own' : '', axis.left - 10, y + 19, part.name, 'end'), ...bars];
      }),
    ...multiples.flatMap((times) => [
      line('today', x(times * rate), begin - 6, end),
      text(
        'todayLabel',
        x(times * rate),
        begin - 10,
        times === 1 ? 'today' : `× ${times.toLocaleString('en')}`,
        'middle',
      ),
    ]),
  ].join('\n');
}

const line = (kind: string, at: number, from: number, to: number) =>
  `<line class="${kind}" x1="${at}" x2="${at}" y1="${from}" y2="${to}"/>`;

const text = (kind: string, left: number, y: number, content: string, anchor = 'start') =>
  `<text class="${kind}" x="${left}" y="${y}" text-anchor="${anchor}">${content}</text>`;
