import { allowListFormatNames, allowListFormats, formatAllowList } from '../../domain/allow-list';
import type { DashboardFacts } from '../../domain/dashboard';
import { retrySchedule } from '../../domain/delivery';
import { type Content, html } from './html';

/** Replaces each `{{name}}` of the page. @throws Error if the page lacks a part, or names one that does not exist */
export function fillPage(page: string, facts: DashboardFacts): string {
  const parts = partsOf(facts);
  const unused = new Set(Object.keys(parts));
  const filled = page.replace(/\{\{([\w-]+)\}\}/g, (_, name: string) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`The page asks for {{${name}}}, which does not exist.`);
    unused.delete(name);
    return html`${part}`.text;
  });
  if (unused.size > 0) throw new Error(`The page has no {{${[...unused].join('}}, {{')}}}.`);
  return filled;
}

function partsOf(facts: DashboardFacts): Readonly<Record<string, Content>> {
  const { title, address, reserve, support, signatureHeaders } = facts;
  const [, ...same] = signatureHeaders;
  const [place = ''] = title.split(',');
  return {
    title,
    place,
    state: state(facts),
    facts: rows(facts).map(
      ([name, value]) => html`<div class="row rule"><dt>${name}</dt><dd>${value}</dd></div>`,
    ),
    warnings: warnings(facts).map((text) => html`<p class="panel wide time" role="note">${text}</p>`),
    address: `${address}/32`,
    local: address.startsWith('127.') ? ' It is this machine’s own, for testing only.' : '',
    reserve: reserve
      ? html`<p class="row note quiet">Allow now too, for an announced emergency: ${reserve.map(
          (each) => html`<span class="row" data-copy="the reserve ${each}"><code>${each}/32</code></span>`,
        )}</p>`
      : '',
    api: facts.apiBaseUrl,
    'allow-lists': html`<div data-tabs="Format">${allowListFormatNames.map(
      (format) => html`<div id="${format}" class="code" data-copy="the allow-list">
        <h3>${allowListFormats[format].title}</h3>
        <p class="quiet">Use: ${allowListFormats[format].use}</p>
        <pre tabindex="0">${formatAllowList(format, [facts])}</pre>
      </div>`,
    )}</div>`,
    'same-headers': `${same.join(' and ')} have the same value.`,
    'signature-headers': signatureHeaders.join(' '),
    attempts: retrySchedule.length,
    retries: html`<div class="columns"><table>${retrySchedule.map(
      (time, index) => html`<tr><th scope="row">${index + 1}</th><td>${clock(time)}</td></tr>`,
    )}</table></div>`,
    guide: support.guide,
    contact: support.contact,
    'contact-url': support.contact.startsWith('https:') ? support.contact : `mailto:${support.contact}`,
  };
}

/** The environment's facts, as pairs of label and text. */
function rows(facts: DashboardFacts): readonly (readonly [name: string, value: Content])[] {
  const { residencyRegions, availability } = facts;
  const chains = facts.chains.join(' and ') + (facts.testFundsOnly ? ', with test funds only' : '');
  return [
    ['Environment', facts.environment],
    ['Region', region(facts.region)],
    [
      'Data',
      html`Stored and processed only in ${residencyRegions.map((each, index) => [index ? ' and ' : '', region(each)])}`,
    ],
    ['Chains', `${chains}. Broadcast transactions may be processed anywhere.`],
    [
      'SLA',
      availability ? `${percent.format(availability)} availability` : 'None: no commitment to availability',
    ],
  ];
}

/** A name, kept on one line. */
const region = (name: string) => html`<span class="whole">${name}</span>`;

const percent = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 2 });

/** What receivers can rely on. */
function state({ deprecation, testFundsOnly }: DashboardFacts): Content {
  if (deprecation) return html`<span class="pill time">Deprecated</span>`;
  if (testFundsOnly) return html`<span class="pill time">Test funds only</span>`;
  return html`<span class="pill valid">Production</span>`;
}

/** `71:22:35`, hours first. @param time milliseconds */
const clock = (time: number) =>
  [time / 3_600_000, (time / 60_000) % 60, (time / 1_000) % 60]
    .map((part, index) => `${Math.floor(part)}`.padStart(index ? 2 : 1, '0'))
    .join(':');

/** Warnings for users of the environment. */
function warnings({ testFundsOnly, chains, deprecation }: DashboardFacts): readonly string[] {
  const mainnet = chains.includes('mainnet')
    ? ': the service cannot technically prevent you from sending funds to a mainnet chain, but doing so is against the terms of use'
    : '';
  const sunset = deprecation?.sunset ? ` It will be switched off on ${day(deprecation.sunset)}.` : '';
  return [
    ...(testFundsOnly ? [`Use test funds only${mainnet}.`] : []),
    ...(deprecation
      ? [`Deprecated since ${day(deprecation.since)}: do not build anything new on it.${sunset}`]
      : []),
  ];
}

/** `20 November 2026` */
const day = (date: string) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(date));
