import { type Check, failed } from './check';

/** Names that are nobody's: https://www.rfc-editor.org/rfc/rfc2606 */
const placeholder = /(^|[.@/])example(\.(com|net|org))?(?=[:/?#]|$)/i;

/** The environment's row. Synthesis accepts placeholders: templates and tests need no real names. */
export const rowChecks: readonly Check[] = [
  {
    id: 'placeholders',
    async run({
      environment: { stackId, disposable, tokenIssuer, support, domainNames, alarmEmail },
      stack,
    }) {
      if (disposable) return 'a disposable environment may have placeholders';
      if (stack.name !== stackId) return `checked with ${stackId}`;
      const values = { tokenIssuer, ...support, ...domainNames, alarmEmail };
      const found = Object.entries(values).flatMap(([name, value]) =>
        placeholder.test(String(value)) ? `${name} ${value}` : [],
      );
      if (found.length === 0) return 'none';
      return failed(
        found.join(', '),
        'Give real ones in lib/environments.ts: tokenIssuer can never change while anyone holds a token.',
      );
    },
  },
  {
    id: 'alarm-email',
    async run({ environment: { stackId, serviceLevelAgreement, alarmEmail }, stack }) {
      if (stack.name !== stackId) return `checked with ${stackId}`;
      if (!serviceLevelAgreement) return 'no alarms without a service level agreement';
      if (alarmEmail) return `alarms notify ${alarmEmail}`;
      return failed('the row has no alarmEmail: alarms notify nobody', 'Set it in lib/environments.ts.');
    },
  },
];
