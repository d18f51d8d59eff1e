import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { startCommand } from '../../cli/pasted-command';
import { startWallet } from '../support/node-process';
import { first } from '../support/rows';
import { answerOk, identityId, organizationId, type Region, startRegion, wallet } from './region';
import { madeUp } from './table-and-one-more';

let region: Region;
beforeAll(async () => {
  region = await startRegion();
});
beforeEach(() => region.recover());
afterAll(() => region.remove());

const seeded = {
  organizationId,
  callerId: identityId,
  serviceAccountId: 'sa-aaaaa-bbbbb-cccccccccccccccc',
  endUserId: 'us-ddddd-bbbbb-cccccccccccccccc',
  userGroupId: 'ug-aaaaa-bbbbb-cccccccccccccccc',
  userGroupName: 'Approvers',
};

describe('seed', () => {
  it('prints with --json what it made, and nothing else', async () => {
    region.answer({ lambda: () => answerOk(seeded) });
    const printed = await wallet('seed', '--outputs', region.outputs, '--json');
    expect(printed).toEqual({ exitCode: 0, stdout: `${JSON.stringify(seeded)}\n`, stderr: '' });
    expect(region.calls).toEqual([
      {
        action: 'lambda',
        input: { operation: 'seed', input: { userGroupName: expect.stringMatching(/^Approvers /) } },
      },
    ]);
  });

  it('tells a person how to delete the group, on stderr', async () => {
    region.answer({ lambda: () => answerOk(seeded) });
    const { stdout, stderr } = await wallet('seed', '--outputs', region.outputs);
    expect(stdout).toContain(`userGroupId       ${seeded.userGroupId}`);
    expect(stderr).toMatch(/wallet delete-group .*--group ug-.* --caller us-/);
  });

  it('adds a group to an organization that is given', async () => {
    region.answer({ lambda: () => answerOk(seeded) });
    const group = ['--organization', organizationId];
    await wallet('seed', '--outputs', region.outputs, ...group);
    expect(region.calls[0]?.input).toEqual({
      operation: 'add-user-group',
      input: { organizationId, userGroupName: expect.stringMatching(/^Approvers /) },
    });
  });
});

describe('what an operator is told', () => {
  const token = (...args: string[]) => wallet('token', '--caller', identityId, ...args);

  it('when there is no outputs file', async () => {
    const printed = await token('--outputs', '/nowhere/outputs.json');
    expect(printed).toMatchObject({ exitCode: 1, stdout: '' });
    expect(printed.stderr).toMatch(
      /There is no outputs file \/nowhere\/outputs\.json\.\n.*--outputs.*: npm start$/m,
    );
  });

  it.each(['[]', '{', '{"Stack":1}'])('when the outputs file holds %s', async (text) => {
    const file = await beside(region, text);
    const printed = await token('--outputs', file);
    expect(printed).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(file) });
  });

  it('when the outputs file lacks the environment', async () => {
    const printed = await token('--outputs', region.outputs, '--environment', madeUp.name);
    expect(printed.exitCode).toBe(1);
    expect(printed.stderr).toContain(`stack ${madeUp.stackId}`);
    expect(printed.stderr).toContain(`It has: ${first.stackId}.`);
  });

  it('when the stack lacks an output', async () => {
    const outputs = await beside(region, { [madeUp.stackId]: {} });
    const printed = await token('--outputs', outputs, '--environment', madeUp.name);
    expect(printed.exitCode).toBe(1);
    expect(printed.stderr).toContain('has no output OperationsFunctionName');
  });

  it('when the operation refuses: its own words', async () => {
    region.answer({
      lambda: () => ({
        body: { ok: false, error: { code: 'identity_not_found', message: 'There is no such.' } },
      }),
    });
    expect(await token('--outputs', region.outputs)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'error: There is no such.\n',
    });
  });

  it('when the operation has a bug', async () => {
    region.answer({
      lambda: () => ({
        headers: { 'x-amz-function-error': 'Unhandled' },
        body: { errorType: 'StatementRefused', errorMessage: 'permission denied' },
      }),
    });
    const printed = await token('--outputs', region.outputs);
    expect(printed.exitCode).toBe(1);
    expect(printed.stderr).toContain('failed at describe-identity: permission denied');
    expect(printed.stderr).toContain(
      `The reason is in its log in ${dirname(region.outputs)}/logs/${first.name}.`,
    );
  });

  it.each(['null', '{"ok":true}', { ok: true, result: { kind: 1 } }])(
    'when the function answers %j, as another version may',
    async (body) => {
      region.answer({ lambda: () => ({ body }) });
      const printed = await token('--outputs', region.outputs);
      expect(printed).toMatchObject({ exitCode: 1, stdout: '' });
      expect(printed.stderr).toContain('of another version');
    },
  );
});

it.each([
  ['no command', []],
  ['no command of a group', ['webhook']],
  ['an unknown environment', ['seed', '--environment', 'mars']],
  ['a missing option', ['token']],
  ['more arguments than there are', ['origins', 'more']],
  ['the id of something else', ['token', '--caller', 'ug-aaaaa-bbbbb-cccccccccccccccc']],
  ['a lifetime of zero', ['token', '--expires-in', '0']],
])('exits with 2 and says why on stderr for %s', async (_, args) => {
  const printed = await wallet(...args);
  expect(printed).toMatchObject({ exitCode: 2, stdout: '' });
  expect(printed.stderr).not.toBe('');
});

it.each([
  ['seed', 'seed'],
  ['webhook', 'webhook'],
  ['webhook add', 'webhook add'],
  ['local token', 'local token'],
  ['seed more', 'seed'],
  ['', ''],
])('help %s prints what --help does', async (words, command) => {
  const split = (text: string) => text.split(' ').filter(Boolean);
  const printed = await wallet('help', ...split(words));
  expect(printed).toMatchObject({ exitCode: 0, stderr: '' });
  expect(printed).toEqual(await wallet(...split(command), '--help'));
});

it.each([
  ['nope', "unknown command 'nope'"],
  ['smok', "unknown command 'smok'\n(Did you mean smoke?)"],
  ['webhook nope', "unknown command 'nope'"],
])('help %s says that there is none', async (words, message) => {
  const printed = await wallet('help', ...words.split(' '));
  expect(printed).toMatchObject({ exitCode: 2, stdout: '' });
  expect(printed.stderr).toContain(message);
});

it('documents the exit codes', async () => {
  const { stdout } = await wallet('--help');
  expect(stdout).toContain('Exit codes: 0 done, 1 failed (stderr says why and what to do), 2 used wrongly.');
});

it.each(['{}', '{"CDKToolkit":{}}'])(
  'says so when the outputs file %s has no environment',
  async (content) => {
    const file = await beside(region, content);
    expect(await wallet('origins', '--outputs', file)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(
        / has no outputs of any environment\. It has: (none|CDKToolkit)\.\n.*--outputs/,
      ),
    });
  },
);

const group = 'ug-aaaaa-bbbbb-cccccccccccccccc';
it.each([
  ['records', ['audit', '--group', group]],
  ['attempts', ['deliveries', '--event', 'evt_1']],
  ['webhooks', ['webhook', 'list', '--organization', organizationId]],
])('prints a list of %s with --json as a bare array', async (name, args) => {
  for (const list of [[], [{ one: 1 }, { two: 2 }]]) {
    region.answer({ lambda: () => answerOk({ [name]: list }) });
    const printed = await wallet(...args, '--outputs', region.outputs, '--json');
    expect(printed).toEqual({ exitCode: 0, stdout: `${JSON.stringify(list)}\n`, stderr: '' });
  }
});

it('is a process with exit codes, whose results alone are on stdout', async () => {
  const [printed, wrong] = await Promise.all([
    run('token', '--outputs', region.outputs, '--caller', identityId),
    run('token'),
  ]);
  expect(printed).toMatchObject({ exitCode: 0, stderr: '' });
  expect(printed.stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  expect(wrong).toMatchObject({ exitCode: 2, stdout: '' });
});

it('tells an operator whose local environment is not running to start it', async () => {
  const stopped = await startRegion();
  await stopped.close();
  expect(await run('token', '--outputs', stopped.outputs, '--caller', identityId)).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `error: Environment ${first.name} is not running on this machine.\nStart it: ${startCommand}\n`,
  });
  await stopped.remove();
});

it('ends silently when its output is closed', async () => {
  const child = startWallet('--help');
  child.process.stdout.destroy();
  expect((await child.ended()).stderr).toBe('');
});

/** Another outputs file in the folder of a region's own. */
async function beside({ outputs }: Region, content: object | string): Promise<string> {
  const file = join(dirname(outputs), 'others.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** Runs the command line as a process. */
const run = (...args: string[]) => startWallet(...args).ended();
