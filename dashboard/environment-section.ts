import { byId, element } from './dom';
import type { DashboardFacts, OtherDashboard } from './facts';

/** Shows what the environment is, and what has to be known before it is used. */
export function showEnvironment(facts: DashboardFacts): void {
  document.title = `${facts.environment} · Wallet infrastructure`;
  for (const place of document.querySelectorAll<HTMLElement>('[data-fact]')) {
    place.textContent = String(facts[place.dataset.fact as keyof DashboardFacts]);
  }
  byId('environment-purpose', HTMLElement).textContent = capitalized(facts.purpose);
  byId('environment-local', HTMLElement).hidden = !/^https?:\/\/127\./.test(facts.apiBaseUrl);
  byId('others', HTMLElement).hidden = facts.others.length === 0;
  byId('others-list', HTMLElement).replaceChildren(...facts.others.map(linkTo));
  byId('warnings', HTMLElement).replaceChildren(...warnings(facts));
  byId('facts-list', HTMLElement).replaceChildren(
    ...rows(facts).map(([name, value, explanation]) =>
      element(
        'div',
        {},
        element('dt', {}, name),
        element('dd', {}, value),
        element('dd', { class: 'hint' }, explanation),
      ),
    ),
  );
}

/** What the environment promises, each with what follows from it. */
function rows({
  serviceLevelAgreement,
  deprecation,
  testFundsOnly,
  chains,
  residencyRegions,
  region,
}: DashboardFacts): [name: string, value: Node | string, explanation: string][] {
  const sunset = deprecation?.sunset ? `, switched off on ${day(deprecation.sunset)}` : '';
  return [
    [
      'Service level agreement',
      badge(serviceLevelAgreement ? 'Yes' : 'None', serviceLevelAgreement),
      serviceLevelAgreement ? 'It covers this environment.' : 'Nothing is promised about its availability.',
    ],
    [
      'Status',
      badge(deprecation ? 'Deprecated' : 'In service', !deprecation),
      deprecation ? `Since ${day(deprecation.since)}${sunset}.` : 'No deprecation is announced.',
    ],
    [
      'Funds',
      badge(testFundsOnly ? 'Test funds only' : 'Real and test funds', !testFundsOnly),
      `Chains: ${chains.join(' and ')}.`,
    ],
    ['Region', element('code', {}, region), 'AWS serves API, database and webhooks from it.'],
    [
      'Data stays in',
      element('code', {}, residencyRegions.join(', ')),
      'Stored and processed there and nowhere else. What is broadcast to a chain may be processed anywhere in the world.',
    ],
  ];
}

const linkTo = ({ environment, purpose, url }: OtherDashboard) =>
  element('li', {}, element('a', { href: url, rel: 'noreferrer' }, environment), ` ${purpose}`);

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
