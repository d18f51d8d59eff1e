import { byId, element } from './dom';
import type { DashboardFacts } from './facts';

/** Shows what the environment is, and what has to be known before it is used. */
export function showEnvironment(facts: DashboardFacts): void {
  document.title = `${facts.environment} · Wallet infrastructure`;
  for (const place of document.querySelectorAll<HTMLElement>('[data-fact]')) {
    place.textContent = String(facts[place.dataset.fact as keyof DashboardFacts]);
  }
  byId('environment-purpose', HTMLElement).textContent = capitalized(facts.purpose);
  byId('warnings', HTMLElement).replaceChildren(...warnings(facts));
  byId('facts-list', HTMLElement).replaceChildren(
    ...rows(facts).map(([name, ...value]) =>
      element('div', {}, element('dt', {}, name), element('dd', {}, ...value)),
    ),
  );
}

function rows(facts: DashboardFacts): [name: string, ...value: (Node | string)[]][] {
  return [
    ['Region', element('code', {}, facts.region)],
    [
      'Data stays in',
      ...facts.residencyRegions.flatMap((region, index) => [index ? ', ' : '', element('code', {}, region)]),
    ],
    ['Chains', capitalized(facts.chains.join(' and '))],
    [
      'Service level agreement',
      badge(facts.serviceLevelAgreement ? 'Yes' : 'None', facts.serviceLevelAgreement),
    ],
    ['Status', badge(facts.deprecation ? 'Deprecated' : 'In service', !facts.deprecation)],
    ['Base address of the API', element('code', {}, facts.apiBaseUrl)],
  ];
}

function warnings({ testFundsOnly, deprecation, chains }: DashboardFacts): HTMLElement[] {
  const sentences = [
    ...(deprecation ? [`Deprecated since ${day(deprecation.since)}: do not build anything new on it.`] : []),
    ...(deprecation?.sunset ? [`It is switched off on ${day(deprecation.sunset)}.`] : []),
    ...(testFundsOnly && chains.includes('mainnet')
      ? [
          'Nothing can keep you from sending funds to a mainnet chain from here, but the terms of use forbid it.',
        ]
      : []),
  ];
  if (sentences.length === 0 && !testFundsOnly) return [];
  const title = testFundsOnly ? 'Use test funds only.' : 'This environment is deprecated.';
  return [
    element(
      'div',
      { class: 'notice warning', role: 'note', 'aria-label': 'Warning' },
      element('strong', {}, title),
      ` ${sentences.join(' ')}`,
    ),
  ];
}

const badge = (text: string, good: boolean) =>
  element('span', { class: `badge ${good ? 'good' : 'warning'}` }, text);

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** `20 November 2026` */
const day = (date: string) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(date));
