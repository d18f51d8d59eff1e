import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { environments } from '../../lib/environments';
import { type DashboardBody, dashboardOf, type Widget } from './dashboard-body';
import { synthesizeStacks } from './stacks';

/** Where the picture is. */
export const pictureFile = resolve(__dirname, '../../docs/monitoring.svg');

/** The picture of the first environment that has a dashboard. */
function committedPicture(): string {
  const shown = environments.find(({ serviceLevelAgreement }) => serviceLevelAgreement);
  const stack = shown && synthesizeStacks([shown])[shown.name];
  if (stack === undefined) throw new Error('No row of lib/environments.ts has a service level agreement.');
  return pictureOf(dashboardOf(stack));
}

/** Pixels of a unit of the dashboard's grid, and around what is drawn. */
const unit = { width: 50, height: 32 };
const gap = 5;
const inset = 12;
/** Of a letter of the smaller text, on average. */
const letter = 6;
const colours = ['#2074d5', '#d9662b', '#2b9a52', '#b2448c', '#7a5cd6', '#8a7a1f', '#138a8a'];

/** An SVG of a dashboard's layout: widgets, titles, axes, thresholds, legends. It has no curves: there is no data. */
export function pictureOf({ start, widgets }: DashboardBody): string {
  const height = Math.max(...widgets.map((widget) => widget.y + widget.height)) * unit.height + 30;
  const range = `the last ${/\d+/.exec(start)} hours`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 ${height}" font-family="system-ui, sans-serif" font-size="12" role="img">
<title>Layout of the monitoring dashboard</title>
<style>
  :root { --page: #f2f3f3; --card: #fff; --ink: #16191f; --faint: #5f6b7a; --line: #d5dbdb; --limit: #c22; }
  @media (prefers-color-scheme: dark) {
    :root { --page: #0f1b2a; --card: #192534; --ink: #e9ebed; --faint: #a4b0bd; --line: #354150; --limit: #ff7a7a; }
  }
  .page { fill: var(--page); } .card { fill: var(--card); stroke: var(--line); } text { fill: var(--ink); }
  .faint { fill: var(--faint); font-size: 11px; } .title { font-weight: 600; font-size: 13px; } .heading { font-weight: 700; font-size: 16px; }
  .code { font-family: ui-monospace, monospace; font-size: 11px; fill: var(--faint); } .grid { stroke: var(--line); }
  .limit { stroke: var(--limit); stroke-dasharray: 5 3; } .limitLabel { fill: var(--limit); font-size: 11px; }
</style>
<rect class="page" width="1200" height="${height}"/>
${widgets.map((widget) => draw(widget)).join('\n')}
<text class="faint" x="${inset}" y="${height - 10}">Layout only, without data. Graphs show ${range}; dashed lines are thresholds of alarms.</text>
</svg>
`;
}

function draw(widget: Widget): string {
  const box = {
    left: widget.x * unit.width + gap,
    top: widget.y * unit.height + gap,
    width: widget.width * unit.width - 2 * gap,
    height: widget.height * unit.height - 2 * gap,
  };
  const parts = { alarm: drawAlarms, metric: drawGraph, text: drawText }[widget.type](widget.properties, box);
  return ['<g>', ...parts, '</g>'].join('\n');
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

type Draw = (properties: Widget['properties'], box: Box) => string[];

const drawText: Draw = ({ markdown = '' }, { left, top }) =>
  markdown
    .split('\n')
    .map((line, index) =>
      line.startsWith('#')
        ? text('heading', left + inset, top + 22, line.replace(/^#+ /, ''))
        : text('code', left + inset, top + 24 + 18 * index, line.replaceAll('`', '')),
    );

const drawAlarms: Draw = ({ title = '', alarms = [] }, { left, top, ...size }) => {
  const perLine = 5;
  const cell = (size.width - 2 * inset) / perLine;
  const names = alarms.map((arn) => arn.split(':').at(-1) ?? '');
  return [
    card({ left, top, ...size }),
    text('title', left + inset, top + 20, title),
    ...names.flatMap((name, index) => {
      const x = left + inset + (index % perLine) * cell;
      const y = top + 30 + Math.floor(index / perLine) * 22;
      return [
        `<rect x="${x}" y="${y}" width="${cell - 6}" height="18" rx="3" class="page"/>`,
        text('faint', x + 6, y + 13, name.replace(/^[^-]+-/, '')),
      ];
    }),
  ];
};

const drawGraph: Draw = (properties, box) => {
  const { title = '', yAxis, annotations } = properties;
  const legend = legendLines(labelsOf(properties), box.width - 2 * inset);
  const plot = {
    left: box.left + inset + 32,
    right: box.left + box.width - inset,
    top: box.top + 46,
    bottom: box.top + box.height - 14 - 16 * legend.length,
  };
  const y = (share: number) => Math.round(plot.bottom - share * (plot.bottom - plot.top));
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (share) => `<line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${y(share)}" y2="${y(share)}"/>`,
  );
  const limits = annotations?.horizontal ?? [];
  const highest = Math.max(1, ...limits.map(({ value }) => value)) / 0.8;
  return [
    card(box),
    text('title', box.left + inset, box.top + 20, title),
    text('faint', box.left + inset, box.top + 36, yAxis?.left.label ?? ''),
    ...grid,
    text('faint', plot.left - 8, y(0) + 4, '0', 'end'),
    ...limits.flatMap(({ label, value }) => [
      `<line class="limit" x1="${plot.left}" x2="${plot.right}" y1="${y(value / highest)}" y2="${y(value / highest)}"/>`,
      text(
        'limitLabel',
        plot.right - 4,
        y(value / highest) - 4,
        `${label}: ${value.toLocaleString('en')}`,
        'end',
      ),
    ]),
    ...legend.flatMap((line, row) =>
      line.flatMap(({ label, colour, offset }) => {
        const baseline = plot.bottom + 20 + 16 * row;
        const x = box.left + inset + offset;
        return [
          `<rect x="${x}" y="${baseline - 9}" width="10" height="10" rx="2" fill="${colour}"/>`,
          text('faint', x + 15, baseline, label),
        ];
      }),
    ),
  ];
};

/** Of the series that are shown. A search has one for each value of a dimension. */
const labelsOf = ({ metrics = [] }: Widget['properties']): string[] =>
  metrics
    .map((metric) => [metric.at(-1), metric[1]])
    .filter(([options]) => options.visible !== false)
    .map(([options, name]) =>
      String(options.label ?? name).replace(/\$\{PROP\('Dim\.(\w+)'\)\}/, (_, dimension) => `‹${dimension}›`),
    );

interface LegendEntry {
  readonly label: string;
  readonly colour: string | undefined;
  /** From the line's start. */
  readonly offset: number;
}

function legendLines(labels: readonly string[], width: number): LegendEntry[][] {
  const lines: LegendEntry[][] = [];
  let offset = Number.POSITIVE_INFINITY;
  for (const [index, label] of labels.entries()) {
    const needed = 15 + letter * label.length;
    if (offset + needed > width) {
      lines.push([]);
      offset = 0;
    }
    lines.at(-1)?.push({ label, colour: colours[index % colours.length], offset });
    offset += needed + 14;
  }
  return lines;
}

const card = ({ left, top, width, height }: Box) =>
  `<rect class="card" x="${left}" y="${top}" width="${width}" height="${height}" rx="6"/>`;

const text = (kind: string, x: number, y: number, content: string, anchor = 'start') =>
  `<text class="${kind}" x="${x}" y="${y}" text-anchor="${anchor}">${content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;

if (require.main === module) writeFileSync(pictureFile, committedPicture());
