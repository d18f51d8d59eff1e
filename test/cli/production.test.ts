import { inputs } from '../../domain/operations';
import { createHandler } from '../../lambda/run-operation/handler';
import { recordLog } from '../support/log';
import { ownFacts } from '../support/organization';
import { useMigratedDatabase } from '../support/region-database';
import { first } from '../support/rows';
import { environments } from '../support/table';
import { temporaryFolder } from '../support/temporary-folder';
import { flagsOf, runWallet, walletCommands, writeOutputs } from '../support/wallet-command';
import { useAccount } from './account';
import { everyCommand, healthy, stackAt } from './every-command';
import { useInstantWaits } from './instant-waits';
import { groupId, identityId, organizationId, webhookId } from './region';

/** Commands that write without --allow-production, and why. */
const exceptions: Readonly<Record<string, string>> = {
  'move-origin': 'changes nothing without --yes',
  'webhook test': 'sends no data, to the one receiver that it names',
};
/** Ends at Ctrl-C only; it lists webhooks, and derives their secrets. */
const withoutEnd = 'local receive';

const database = useMigratedDatabase();
/** The operations that PostgreSQL refuses in read-only transactions. */
async function writingOperations(): Promise<Set<string>> {
  const since = new Date(0).toISOString();
  const values: Readonly<Record<string, unknown>> = {
    ...{ organizationId, webhookId, identityId, userGroupId: groupId, userGroupName: 'Approvers', since },
    ...{ until: since, limit: 1, url: 'https://hooks.customer.com/' },
  };
  await database.query`alter role run_operation set default_transaction_read_only = on`;
  const ports = { database: database.as('run_operation'), ...ownFacts };
  const handle = createHandler({ ports, log: recordLog() });
  const found = new Set<string>();
  for (const [operation, fields] of Object.entries(inputs)) {
    const known = Object.entries(values).filter(([name]) => Object.hasOwn(fields, name));
    const response = await handle({ operation, input: Object.fromEntries(known) });
    if (JSON.stringify(response).includes('sql_state_25006')) found.add(operation);
  }
  await database.query`alter role run_operation reset default_transaction_read_only`;
  return found;
}

useInstantWaits();
const folder = temporaryFolder();
const account = useAccount();

it('commands that write, or sign for a caller, require --allow-production, or are an exception', async () => {
  const withOutputs = walletCommands
    .map(([path]) => path)
    .filter((path) => flagsOf(path)?.includes('--outputs'));
  expect([...Object.keys(everyCommand), withoutEnd].sort()).toEqual(withOutputs.sort());

  const operations = await writingOperations();
  const url = account().url;
  const writing: string[] = [];
  for (const [path, args] of Object.entries(everyCommand)) {
    account().answer(healthy());
    // The command's name as the key's: of two calls at once, the second can come when the command has ended.
    const its = { ...stackAt(url), TokenSigningKeyArn: path, UserActionSigningKeyArn: path };
    const outputs = writeOutputs(folder(), { [first.stackId]: its }, { kms: url, lambda: url, sqs: url });
    await runWallet([...path.split(' '), ...args, '--outputs', outputs]);
    const writes = account().calls.some(
      ({ action, input }) =>
        operations.has(input.operation) || input.KeyId === path || /^(Send|Update|DELETE )/.test(action),
    );
    if (writes) writing.push(path);
  }
  const guarded = walletCommands.filter(([path]) => flagsOf(path)?.includes('--allow-production'));
  const guardedPaths = guarded.map(([path]) => path);
  expect(writing.filter((path) => !guardedPaths.includes(path) && !(path in exceptions))).toEqual([]);
  expect(guardedPaths.filter((path) => !writing.includes(path))).toEqual([]);
});

it('they are refused without it only in deployed production, and dry runs never', async () => {
  const guarded = Object.entries(everyCommand).filter(([path]) =>
    flagsOf(path)?.includes('--allow-production'),
  );
  for (const { name, stackId, serviceLevelAgreement } of environments) {
    const place = ['--environment', name, '--outputs', writeOutputs(folder(), { [stackId]: {} })];
    for (const [path, args] of guarded) {
      const refused = async (...more: string[]) => {
        const { exitCode, stderr } = await runWallet([...path.split(' '), ...args, ...place, ...more]);
        // Otherwise they go on, to an output that is missing here, which a dry run may not need.
        if (!more.includes('--dry-run'))
          expect({ name, path, exitCode }).toEqual({ name, path, exitCode: 1 });
        return new RegExp(`${name} is in production.*\\n.*--allow-production`).test(stderr);
      };
      expect([name, path, await refused()]).toEqual([name, path, serviceLevelAgreement]);
      expect([name, path, await refused('--allow-production')]).toEqual([name, path, false]);
      if (flagsOf(path)?.includes('--dry-run')) expect(await refused('--dry-run')).toBe(false);
    }
  }
});
