import { walletCommand } from '../../../cli/pasted-command';
import type { LocalCloud } from '../../support/local-cloudformation';
import { first } from '../../support/rows';
import { deploy, facts, keepTimeWith, moveOrigin, withKeyboard } from './deployed';
import { addresses, dies, type Emergency, emergencies, hours, undeletable, withReserve } from './emergencies';

let cloud: LocalCloud;
afterEach(async () => {
  jest.restoreAllMocks();
  await cloud.stop();
});

async function arrange({ row, arrange: begin }: Partial<Emergency>): Promise<void> {
  cloud = await deploy(row);
  keepTimeWith(cloud);
  await begin?.(cloud);
}
const emergency = (name: keyof typeof emergencies) => emergencies[name] as Emergency;
const done = (action: string) => cloud.calls.filter((call) => call.action === action);

/** Moves, and has it end well. @returns what it said */
async function move(...args: readonly string[]): Promise<string> {
  const { exitCode, stderr } = await moveOrigin(cloud, '--timeout', '1h', ...args);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.any(String) });
  return stderr;
}

/** @returns what it said */
async function moveInVain(...args: readonly string[]): Promise<string> {
  const { stderr, ...printed } = await moveOrigin(cloud, '--timeout', '1h', ...args);
  expect(printed).toEqual({ exitCode: 1, stdout: '' });
  return stderr;
}

describe('a deletion that hangs', () => {
  it('is told once a minute at least, with gateway and interface', async () => {
    cloud = await deploy();
    keepTimeWith(cloud);
    dies(cloud, 1, 1 * hours);
    cloud.stack.stuckTick = 5_000;
    const gateway = facts(cloud).heldBy;
    const said = await move('--zone', '2', '--yes', '--timeout', '3h');
    expect(said).toMatch(
      new RegExp(
        `  \\d+:\\d\\d  still UPDATE_COMPLETE_CLEANUP_IN_PROGRESS: WebhookOriginNatGateway DELETE_IN_PROGRESS since \\d+:\\d\\d\\. ${addresses.one} \\(eipalloc-\\w+\\) is held by gateway ${gateway}, which is deleting, through its interface eni-of-${gateway}\\.`,
      ),
    );
    const minutes = [...said.matchAll(/^ {2}(\d+):\d\d {2}/gm)].map(([, minute]) => Number(minute));
    const gaps = minutes.slice(1).map((minute, index) => minute - (minutes[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(2);
    expect(minutes.at(-1)).toBeLessThan(75);
  });

  it('ends the command after --timeout, with what to run again, and why nothing else can be done', async () => {
    await arrange(emergency('a deletion that outlasts CloudFormation'));
    const said = await moveInVain('--zone', '3', '--yes');
    expect(said).toContain(
      'The webhook origin is not in zone 3 yet: stack WalletEu is UPDATE_COMPLETE_CLEANUP',
    );
    expect(said).toContain('CloudFormation takes no other update of the stack until this one has ended.');
    expect(said).toContain(`ask AWS Support to disassociate ${addresses.one} by force`);
    expect(said).toContain(
      `To go on waiting, run: ${walletCommand('move-origin', { environment: first.name, outputs: cloud.outputs })} --zone 3 --yes`,
    );
    await move('--zone', '3', '--yes', '--timeout', '24h');
    expect(done('DeleteNatGateway')).toEqual([]);
  });

  it('is waited for in EC2 after CloudFormation has forgotten the gateway, and deletes nothing twice', async () => {
    await arrange(emergency('a deletion that outlasts CloudFormation'));
    const said = await move('--zone', '3', '--yes', '--timeout', '24h');
    expect(said).toMatch(/left behind: WebhookOriginNatGateway: .*Exceeded attempts to wait/);
    expect(said).toMatch(
      /which is deleting, through its interface \S+\. Waiting until EC2 frees the address\./,
    );
    expect(done('DeleteNatGateway')).toEqual([]);
  });
});

describe('a gateway that CloudFormation has forgotten', () => {
  beforeEach(() => arrange({ arrange: ({ stack }) => void stack.plannedFailures.push(...undeletable) }));

  const answering = (...answers: string[]) =>
    withKeyboard(
      cloud,
      ['move-origin', '--outputs', cloud.outputs, '--zone', '2', '--interval', '0.001'],
      ...answers,
    );

  it('is deleted with --yes, by its id, and the move goes on', async () => {
    const gateway = facts(cloud).heldBy;
    const said = await move('--zone', '2', '--yes');
    expect(said).toContain(`Delete gateway ${gateway}, which CloudFormation has left behind`);
    expect(done('DeleteNatGateway').map(({ input }) => input)).toEqual([{ NatGatewayId: gateway }]);
    expect(facts(cloud)).toMatchObject({ zone: '2', egress: addresses.one });
  });

  it('is asked about without --yes, and stays when the answer is no', async () => {
    const { exitCode, stderr } = await answering('y', 'n');
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('Delete gateway') });
    expect(done('DeleteNatGateway')).toEqual([]);
    expect((await answering('y', 'y')).exitCode).toBe(0);
  });

  it('is shown by --dry-run, as what would be done', async () => {
    cloud.stack.begin({ ...cloud.stack.parameters, WebhookOriginZone: 'none' }, 'by-hand');
    cloud.stack.settle();
    const { stdout } = await moveOrigin(cloud, '--zone', '2', '--dry-run', '--json');
    const gateway = facts(cloud).heldBy;
    expect(JSON.parse(stdout).steps).toEqual([
      { step: 'free', heldBy: `eni-of-${gateway}`, gateway, orphan: gateway },
      { step: 'update', zone: '2', reserve: false },
    ]);
    expect(done('DeleteNatGateway')).toEqual([]);
  });

  it.each<[string, Record<string, string>]>([
    ['of another stack', { 'aws:cloudformation:stack-id': 'arn:another' }],
    ['of another logical id', { 'aws:cloudformation:logical-id': 'Another' }],
    ['made by hand', {}],
  ])('is named and not touched when it is %s', async (_, tags) => {
    const [gateway] = cloud.account.gateways.values();
    const own = 'made by hand' === _ ? {} : gateway?.tags;
    Object.assign(gateway ?? {}, { tags: { ...own, ...tags } });
    const said = await moveInVain('--zone', '2', '--yes');
    expect(said).toContain(`is held by gateway ${gateway?.id}, which is available`);
    expect(said).toContain('so this command does not touch it');
    expect(done('DeleteNatGateway')).toEqual([]);
  });
});

it('what is no gateway is named and not touched, after the moments that EC2 needs', async () => {
  await arrange({});
  const [address] = cloud.account.addresses.values();
  cloud.stack.begin({ ...cloud.stack.parameters, WebhookOriginZone: 'none' }, 'by-hand');
  cloud.stack.settle();
  Object.assign(address ?? {}, { heldBy: 'a-proxy' });
  const said = await moveInVain('--zone', '2', '--yes');
  expect(said).toContain(`${addresses.one} (${address?.allocationId}) is held by eni-of-a-proxy. No gateway`);
  expect(done('UpdateStack')).toEqual([]);
});

describe('a creation that hangs', () => {
  beforeEach(() => arrange({ arrange: (one) => dies(one, 2, 1 * hours) }));

  it('is named after 15 minutes, with both ways out', async () => {
    const said = await moveInVain('--zone', '2', '--yes', '--timeout', '30m');
    const command = `aws cloudformation cancel-update-stack --stack-name ${first.stackId} --region ${first.region}`;
    expect(said.match(/No gateway takes that long where EC2 works/g)).toHaveLength(1);
    expect(said.split(command)).toHaveLength(3);
    expect(done('CancelUpdateStack')).toEqual([]);
  });

  it.each([true, false])('is cancelled for another zone, with a token of its own: %s', async (own) => {
    cloud.stack.rollbackHasOwnToken = own;
    await moveInVain('--zone', '2', '--yes', '--timeout', '20m');
    const said = await move('--zone', '3', '--yes', '--timeout', '24h');
    expect(said).toContain('1. Cancel the update to zone 2, which runs since ');
    expect(done('CancelUpdateStack')).toHaveLength(1);
    expect(facts(cloud)).toMatchObject({ zone: '3', egress: addresses.one });
  });

  it('is waited for while it is young, and cancelled when it is not', async () => {
    cloud.stack.stuckTick = 10_000;
    await moveInVain('--zone', '2', '--yes', '--timeout', '5m');
    const said = await move('--zone', '3', '--yes', '--timeout', '24h');
    expect(said).toContain('and cancel it when it has not ended at ');
    expect(done('CancelUpdateStack')).toHaveLength(1);
  });

  it('of an update that is not of this command is left alone', async () => {
    cloud.stack.begin({ ...cloud.stack.parameters, WebhookOriginZone: 'none' }, 'by-hand');
    cloud.stack.settle();
    cloud.stack.begin({ ...cloud.stack.parameters, WebhookOriginZone: '2' }, 'cdk-deploy-7');
    cloud.stack.now += 0.5 * hours;
    expect(await moveInVain('--zone', '3', '--yes')).toContain('Another update of stack');
    expect(done('CancelUpdateStack')).toEqual([]);
  });
});

describe('a rollback that failed', () => {
  it('is continued without what failed in it, and the way leads through none', async () => {
    await arrange(emergency('a rollback that failed'));
    expect(facts(cloud)).toMatchObject({ status: 'UPDATE_ROLLBACK_FAILED', zone: '1' });
    const skipped = cloud.stack.failedRollback?.reverts.map(({ resource }) => resource.logicalId);
    const said = await move('--zone', '1', '--yes');
    expect(said).toContain(`1. Continue the rollback that failed without ${skipped?.join(', ')}`);
    expect(done('ContinueUpdateRollback').map(({ input }) => input.ResourcesToSkip)).toEqual([skipped]);
    expect(skipped).toEqual([expect.stringMatching(/^WebhooksDeliverWebhookSource/)]);
    expect(said).toContain('2. Update the stack to zone none');
    expect(facts(cloud)).toMatchObject({ zone: '1', consumers: ['Enabled', 'Enabled'] });
  });

  /** @returns the logical ids of what could not be undone */
  const failByHand = (token: string, ...types: readonly string[]) => {
    const { stack } = cloud;
    const failed = types.flatMap(
      (type) => [...stack.resources.values()].find((one) => one.type === type) ?? [],
    );
    stack.begin({ ...stack.parameters, WebhookOriginZone: 'none' }, token);
    stack.settle();
    stack.record('UPDATE_ROLLBACK_IN_PROGRESS');
    for (const resource of failed) stack.record('UPDATE_FAILED', { resource, reason: 'cannot be changed' });
    stack.record('UPDATE_ROLLBACK_FAILED');
    return failed.map(({ logicalId }) => logicalId);
  };
  const consumer = 'AWS::Lambda::EventSourceMapping';

  it.each([
    ['another resource is in it', 'wallet-move-origin-to-none-1', [consumer, 'AWS::SQS::Queue']],
    ['it is not of this command', 'cdk-deploy-7', [consumer]],
  ])('is left to a person when %s', async (_, token, types) => {
    await arrange({});
    const failed = failByHand(token, ...types);
    expect(failed).toHaveLength(types.length);
    const said = await moveInVain('--zone', '2', '--yes');
    for (const logicalId of failed) expect(said).toContain(`${logicalId}: cannot be changed`);
    expect(said).toContain(`aws cloudformation continue-update-rollback --stack-name ${first.stackId}`);
    expect(done('ContinueUpdateRollback')).toEqual([]);
  });
});

describe('the reserve address', () => {
  it('is on a gateway while the zone of the old one is still gone', async () => {
    await arrange(emergency('a dead zone, with a reserve'));
    const said = await move('--zone', '2', '--reserve', '--yes');
    expect(said).toMatch(/^Zone 2 on the reserve address: done after \d+ s\.$/m);
    expect(said).toContain('CloudFormation still deletes the old gateway');
    expect(facts(cloud)).toMatchObject({
      egress: addresses.reserve,
      status: expect.stringMatching(/CLEANUP/),
    });
    expect(done('UpdateStack')).toHaveLength(1);
    expect(await move('--zone', '2', '--reserve', '--yes')).toContain('there is nothing to do');
  });

  it('is left again when the one address is free, and named as long as it is not', async () => {
    await arrange(emergency('the one address is free again'));
    const said = await move('--zone', '2', '--yes', '--timeout', '24h');
    expect(said).toContain('1. Wait until EC2 frees the address: 203.0.113.7');
    expect(facts(cloud)).toMatchObject({ egress: addresses.one, zone: '2' });
  });

  it('is used wrongly where there is none', async () => {
    await arrange({});
    const printed = await moveOrigin(cloud, '--zone', '2', '--reserve', '--yes');
    expect(printed).toMatchObject({ exitCode: 2, stdout: '' });
    expect(printed.stderr).toContain('webhookOrigin: { reserve: true }');
    expect(done('UpdateStack')).toEqual([]);
  });

  it('is refused when the outputs file has another', async () => {
    await arrange({ row: withReserve });
    Object.assign(cloud.stack.resources.get('WebhookOriginReserveElasticIp') ?? {}, {
      attributes: { PublicIp: '203.0.113.99', AllocationId: 'eipalloc-other' },
    });
    const said = await moveInVain('--zone', '2', '--reserve', '--yes');
    expect(said).toContain('has the reserve 203.0.113.99, the outputs file has 203.0.113.8');
    expect(done('UpdateStack')).toEqual([]);
  });

  it('waits for no answer of EC2, and is verified when that answers again', async () => {
    await arrange(emergency('a dead zone, with a reserve'));
    cloud.fate = ({ action }) => (action === 'DescribeAddresses' ? 'end-before' : 'serve');
    expect(await moveInVain('--zone', '2', '--reserve', '--yes')).toContain('ec2:DescribeAddresses');
    expect(facts(cloud).egress).toBe(addresses.reserve);
    cloud.fate = () => 'serve';
    expect(await move('--zone', '2', '--reserve', '--yes')).toContain('there is nothing to do');
  });

  it('delivers within minutes, where the two-step move waits for the dead zone', async () => {
    const [from, reserve] = await firstDelivery(withReserve, 13.5 * hours, '--reserve');
    await cloud.stop();
    const [, one] = await firstDelivery({}, 13.5 * hours, '--no-reserve');
    await cloud.stop();
    const [, healthy] = await firstDelivery({}, 0, '--no-reserve');
    // Minutes. docs/decisions/moving-the-webhook-origin.md quotes them.
    expect(from).toBe(addresses.reserve);
    expect(reserve).toBeLessThan(3);
    expect(healthy).toBeLessThan(6);
    expect(one).toBeGreaterThan(13.5 * 60);
  });

  /** Where the first webhook comes from that waits since the zone died, and after how many minutes. */
  async function firstDelivery(
    row: Emergency['row'],
    duration: number,
    option: string,
  ): Promise<[from: string, minutes: number]> {
    await arrange({ row, arrange: (each) => dies(each, 1, duration) });
    const [queue] = [...cloud.account.queues.keys()].filter((name) => name.endsWith('WebhookDeliveryQueue'));
    const began = cloud.stack.now;
    let arrived: [from: string, minutes: number] | undefined;
    cloud.fate = () => {
      const { arrivals } = cloud.account;
      const [first] = arrivals;
      if (!cloud.account.egress && arrivals.length === 0) cloud.account.queues.get(queue ?? '')?.push('one');
      if (first) arrived ??= [first.from, (cloud.stack.now - began) / 60_000];
      return 'serve';
    };
    await move('--zone', '2', option, '--yes', '--timeout', '24h');
    return arrived ?? ['nowhere', Number.POSITIVE_INFINITY];
  }
});
