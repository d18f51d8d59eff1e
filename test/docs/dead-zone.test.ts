import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deploy, facts, keepTimeWith, withKeyboard } from '../cli/origin/deployed';
import { addresses, dies, hours, withReserve } from '../cli/origin/emergencies';
import type { LocalCloud } from '../support/local-cloudformation';
import { first } from '../support/rows';

const runbook = readFileSync(join(__dirname, '../../docs/runbook.md'), 'utf8');
const section = /^## A zone is gone\n(.*?)^### /ms.exec(runbook)?.[1] ?? '';
/** The commands of each numbered step, in order. */
const steps = section
  .split(/^(?=\d\. )/m)
  .slice(1)
  .map((step) =>
    [...step.matchAll(/^ *npm run -s wallet -- (.+)$/gm)].map(([, command = '']) => command.split(' ')),
  );

it('has six steps, each with commands', () => {
  expect(steps.map((commands) => commands.length)).toEqual([1, 2, 1, 1, 1, 2]);
});

describe('followed step by step', () => {
  let cloud: LocalCloud;
  afterEach(async () => {
    jest.restoreAllMocks();
    await cloud.stop();
  });

  async function deployed(row?: Parameters<typeof deploy>[0]): Promise<void> {
    cloud = await deploy(row);
    keepTimeWith(cloud);
  }

  /** Runs the commands of a step as the page has them, by a person who says yes. */
  async function follow(step: number) {
    const values: Readonly<Record<string, string>> = { 'outputs.json': cloud.outputs, eu: first.name };
    const results = [];
    for (const command of steps[step - 1] ?? []) {
      const words = command.map((word) => values[word] ?? word);
      const often = words[0] === 'move-origin' ? ['--interval', '0.001'] : [];
      results.push(await withKeyboard(cloud, [...words, ...often], 'y'));
    }
    return results;
  }

  const codes = (results: Awaited<ReturnType<typeof follow>>) => results.map(({ exitCode }) => exitCode);

  it('with a reserve, webhooks go out while the zone is gone, and from the one address when it is back', async () => {
    await deployed(withReserve);
    dies(cloud, 1, 6 * hours);
    const [look] = await follow(1);
    expect(look?.stdout).toMatch(/^reserve {7}203\.0\.113\.8, not in use$/m);
    const [preview, moved] = await follow(2);
    expect(preview?.stdout).toContain('from zone 1 to zone 2 on the reserve address');
    expect(moved?.exitCode).toBe(0);
    expect(facts(cloud)).toMatchObject({ egress: addresses.reserve, zone: '2' });
    expect(cloud.account.isStuck).toBe(true);

    const back = await follow(6);
    expect(codes(back)).toEqual([0, 0]);
    expect(back[0]?.stderr).toContain('203.0.113.7 (eipalloc-');
    expect(back[1]).toMatchObject({ stderr: '', stdout: expect.stringContaining('203.0.113.8, not in use') });
    expect(facts(cloud)).toMatchObject({ egress: addresses.one, zone: '2' });
  });

  it('without one, it waits until EC2 frees the address', async () => {
    await deployed();
    dies(cloud, 1, 13.5 * hours);
    expect(codes(await follow(1))).toEqual([0]);
    const [waited] = await follow(3);
    expect(waited).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('ask AWS Support') });
    expect(codes(await follow(4))).toEqual([0]);
    expect(facts(cloud)).toMatchObject({ egress: addresses.one, zone: '2' });
  });

  it('without one, in two dead zones, it ends in the third', async () => {
    await deployed();
    dies(cloud, 1, 0.5 * hours);
    dies(cloud, 2, 13.5 * hours);
    expect(codes(await follow(3))).toEqual([1]);
    const [moved] = await follow(5);
    expect(moved).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('Cancel the update to zone 2'),
    });
    expect(facts(cloud)).toMatchObject({ egress: addresses.one, zone: '3' });
  });
});
