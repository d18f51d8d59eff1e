import { byId, element, type Panel, showPanel } from './dom';
import type { DashboardFacts } from './facts';
import { forgetSecrets } from './secret-fields';
import { type Verification, verify } from './verifier/verify';

const kinds: Readonly<Record<Verification['verdict'], Panel['kind']>> = {
  holds: 'good',
  stale: 'warning',
  refused: 'bad',
  incomplete: 'bad',
};

/** Verifies a pasted delivery. */
export function startVerifier({ signatureHeaders }: DashboardFacts): void {
  const form = byId('verify-form', HTMLFormElement);
  const result = byId('verify-result', HTMLElement);
  const [headers, body] = [
    byId('verify-headers', HTMLTextAreaElement),
    byId('verify-body', HTMLTextAreaElement),
  ];
  const secret = byId('verify-secret', HTMLInputElement);
  byId('verify-signature-names', HTMLElement).replaceChildren(
    ...signatureHeaders.flatMap((name, index) => [index ? ' or ' : '', element('code', {}, name)]),
  );

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    result.replaceChildren();
    const pasted = { headers: headers.value, body: body.value, secret: secret.value };
    const { verdict, title, details } = await verify(pasted, signatureHeaders, Date.now());
    showPanel(result, {
      kind: kinds[verdict],
      title,
      content: [element('ul', {}, ...details.map((detail) => element('li', {}, detail)))],
    });
  });
  form.addEventListener('reset', () => result.replaceChildren());
  forgetSecrets(form, [secret]);
}
