import { byId, element } from './dom';
import type { DashboardFacts } from './facts';

/** Milliseconds: the gateway answers this by itself. */
const patience = 10_000;

interface Health {
  readonly kind: 'good' | 'warning' | 'bad';
  readonly text: string;
}

/**
 * Says in one line whether the environment's API answers, and publishes the address that this page shows; again whenever
 * the page is looked at again.
 */
export function startHealth(facts: DashboardFacts): void {
  const line = byId('health', HTMLElement);
  const show = async () => {
    const { kind, text } = await ask(facts);
    const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' }).format(new Date());
    line.replaceChildren(
      element('span', { class: `dot ${kind}`, 'aria-hidden': 'true' }),
      ` ${text} `,
      element('span', { class: 'hint' }, `Asked at ${time}.`),
    );
  };
  document.addEventListener('visibilitychange', () => void (document.hidden || show()));
  void show();
}

async function ask({ apiBaseUrl, webhookOriginAddress }: DashboardFacts): Promise<Health> {
  try {
    const response = await fetch(`${apiBaseUrl}/webhook-origins`, {
      credentials: 'omit',
      // The answer may be kept for an hour: this asks whether it comes now.
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(patience),
    });
    if (response.status === 429)
      return { kind: 'warning', text: 'The API answers, and has too many requests to do more.' };
    if (!response.ok) return { kind: 'bad', text: `The API answers with an error, ${response.status}.` };
    const { addresses } = (await response.json()) as { readonly addresses?: unknown };
    if (JSON.stringify(addresses) !== JSON.stringify([`${webhookOriginAddress}/32`]))
      return {
        kind: 'warning',
        text: `The API answers, but names another webhook origin than this page: ${String(addresses)}. Reload this page.`,
      };
    return {
      kind: 'good',
      text: `The API answers, and webhooks come from ${webhookOriginAddress}.`,
    };
  } catch {
    return { kind: 'bad', text: 'The API gave no answer that this browser could read.' };
  }
}
