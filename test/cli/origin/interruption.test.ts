import type { Call, Fate, LocalCloud } from '../../support/local-cloudformation';
import { startWallet } from '../../support/node-process';
import { first } from '../../support/rows';
import { deploy, facts, keepTimeWith, moveOrigin } from './deployed';
import { addresses, type Emergency, emergencies } from './emergencies';

const address = addresses.one;

/** A deployment to whose delivery queue a message is sent with every call. */
async function deployBusy(row?: Emergency['row']): Promise<{ cloud: LocalCloud; sent: string[] }> {
  const cloud = await deploy(row);
  const [queue] = [...cloud.account.queues].find(([name]) => name.endsWith('WebhookDeliveryQueue')) ?? [''];
  const sent: string[] = [];
  cloud.fate = watch;
  return { cloud, sent };

  function watch({ number }: Call): Fate {
    sent.push(`message ${number}`);
    cloud.account.queues.get(queue)?.push(`message ${number}`);
    return 'serve';
  }
}

/** Has the command end at one of its calls, as if it were killed there. */
function endAt(cloud: LocalCloud, number: number, fate: Fate): void {
  const usual = cloud.fate;
  const first = cloud.calls.length;
  cloud.fate = async (call) => {
    const served = await usual(call);
    return call.number - first === number ? fate : served;
  };
}

async function expectMoved(cloud: LocalCloud, sent: readonly string[], where: string): Promise<void> {
  cloud.stack.tick();
  expect({ where, ...facts(cloud) }).toMatchObject({
    where,
    address,
    egress: address,
    gateways: [facts(cloud).heldBy],
    zones: [first.zones[1]],
    consumers: ['Enabled', 'Enabled'],
    zone: '2',
    status: 'UPDATE_COMPLETE',
  });
  expectArrived(cloud, sent);
  expect(new Set(cloud.account.arrivals.map(({ from }) => from))).toEqual(new Set([address]));
}

function expectArrived({ account }: LocalCloud, sent: readonly string[]): void {
  const arrived = account.arrivals.map(({ message }) => message);
  expect(arrived.toSorted()).toEqual([...sent].sort());
}

async function callsOfWholeMove(): Promise<readonly string[]> {
  const { cloud, sent } = await deployBusy();
  expect((await moveOrigin(cloud, '--zone', '2', '--yes')).exitCode).toBe(0);
  await expectMoved(cloud, sent, 'without interruption');
  await cloud.stop();
  return cloud.calls.map(({ action }) => action);
}

it.each([
  ['at once', () => {}],
  ['after the update that it had begun', (cloud: LocalCloud) => cloud.stack.settle()],
])(
  'a move that ends at any of its calls goes on when it is run again, %s',
  async (_, meanwhile) => {
    const actions = await callsOfWholeMove();
    expect(actions.length).toBeGreaterThan(25);
    for (const [index, action] of actions.entries()) {
      const fates: Fate[] = action === 'UpdateStack' ? ['end-before', 'end-after'] : ['end-before'];
      for (const fate of fates) {
        const { cloud, sent } = await deployBusy();
        const usual = cloud.fate;
        endAt(cloud, index + 1, fate);
        const where = `${fate} ${index + 1} ${action}`;
        const move = async () => [where, (await moveOrigin(cloud, '--zone', '2', '--yes')).exitCode];
        expect(await move()).toEqual([where, 1]);
        cloud.fate = usual;
        meanwhile(cloud);
        expect(await move()).toEqual([where, 0]);
        await expectMoved(cloud, sent, where);
        await cloud.stop();
      }
    }
  },
  120_000,
);

it('another zone can be chosen while an update of an earlier run is still under way', async () => {
  const { cloud, sent } = await deployBusy();
  const usual = cloud.fate;
  endAt(cloud, 7, 'end-before');
  expect((await moveOrigin(cloud, '--zone', '3', '--yes')).exitCode).toBe(1);
  cloud.fate = usual;
  expect(cloud.stack.status).toBe('UPDATE_IN_PROGRESS');
  const { exitCode, stderr } = await moveOrigin(cloud, '--zone', '2', '--yes');
  expect(exitCode).toBe(0);
  expect(stderr).toContain('1. Wait for the update to zone none that an earlier run of this command began.');
  await expectMoved(cloud, sent, 'after a change of mind');
  await cloud.stop();
});

it.each([
  ['while its first update runs', 'DescribeStackEvents', 4],
  ['between its updates', 'DescribeAddresses', 1],
])('a process killed %s: the next one ends in the new zone', async (_, action, occurrence) => {
  const { cloud, sent } = await deployBusy();
  const usual = cloud.fate;
  let met = 0;
  cloud.fate = async (call) => {
    const served = await usual(call);
    if (call.action !== action) return served;
    met += 1;
    if (met !== occurrence) return served;
    command.process.kill('SIGKILL');
    await command.ended();
    return served;
  };
  const options = ['--outputs', cloud.outputs, '--zone', '2', '--yes', '--interval', '0.01'];
  const command = startWallet('move-origin', ...options);
  await command.ended();
  expect(command.process.signalCode).toBe('SIGKILL');
  cloud.fate = usual;
  expect((await moveOrigin(cloud, '--zone', '2', '--yes')).exitCode).toBe(0);
  await expectMoved(cloud, sent, 'after a kill');
  await cloud.stop();
});

describe('in an emergency', () => {
  let cloud: LocalCloud;
  afterEach(async () => {
    jest.restoreAllMocks();
    await cloud.stop();
  });

  const changes = /^(Update|Cancel|Continue|Delete)/;

  /** What the account is like. The command remembers nothing: reads of one state are as good as another. */
  const state = ({ account, stack }: LocalCloud): string =>
    [stack.status, ...Object.values(stack.parameters), ...account.gateways.values()]
      .map((part) => (typeof part === 'object' ? part.state : part))
      .join(' ');

  it.each(Object.entries(emergencies))(
    'a move that ends in each state that it meets, and after each change, goes on when it is run again: %s',
    async (_, { row, arrange, move, zone = '2', address = addresses.one }) => {
      const busy = await deployBusy(row);
      cloud = busy.cloud;
      keepTimeWith(cloud);
      await arrange(cloud);
      const usual = cloud.fate;
      const ends = new Set<string>();
      cloud.fate = async (call) => {
        const served = await usual(call);
        const isChange = changes.test(call.action);
        const where = isChange ? `after ${call.action} in ${state(cloud)}` : state(cloud);
        if (ends.has(where)) return served;
        ends.add(where);
        return isChange ? 'end-after' : 'end-before';
      };
      let exitCode: number;
      let before: number;
      do {
        before = ends.size;
        ({ exitCode } = await moveOrigin(cloud, ...move));
      } while (exitCode === 1 && ends.size > before);
      expect({ exitCode, ends: [...ends] }).toEqual({ exitCode: 0, ends: expect.any(Array) });
      expect([...ends].filter((where) => where.startsWith('after '))).not.toEqual([]);
      cloud.stack.tick();
      expect(facts(cloud)).toMatchObject({ egress: address, zone, consumers: ['Enabled', 'Enabled'] });
      expectArrived(cloud, busy.sent);
    },
  );
});
