import { PassThrough } from 'node:stream';
import type { Fate, LocalCloud } from '../../support/local-cloudformation';
import { first } from '../../support/rows';
import { runWallet } from '../../support/wallet-command';
import { deploy, facts, moveOrigin } from './deployed';

let cloud: LocalCloud;
beforeEach(async () => {
  cloud = await deploy();
});
afterEach(() => cloud.stop());

const address = '203.0.113.7';
const inZone = (zone: string) => ({
  address,
  egress: address,
  gateways: [expect.any(String)],
  zones: [first.zones[Number(zone) - 1]],
  consumers: ['Enabled', 'Enabled'],
  zone,
});
const updates = () => cloud.calls.filter(({ action }) => action === 'UpdateStack');
/** What an update was for, whatever else it says. */
const zonesOf = (calls: ReturnType<typeof updates>) =>
  calls.map(({ input }) => input.Parameters.find(isZone)?.ParameterValue);
const isZone = ({ ParameterKey }: { ParameterKey: string }) => ParameterKey === 'WebhookOriginZone';

const move = (zone: string) => moveOrigin(cloud, '--zone', zone, '--yes');

async function expectMove(zone: string): Promise<void> {
  expect((await move(zone)).exitCode).toBe(0);
  expect(facts(cloud)).toMatchObject(inZone(zone));
}

/** @returns what it says */
async function expectNoMove(zone = '2'): Promise<string> {
  const { stderr, ...printed } = await move(zone);
  expect(printed).toEqual({ exitCode: 1, stdout: '' });
  return stderr;
}

/** Gives the first calls of an action their fate, and serves all others. */
function fateOf(action: string, ...fates: readonly Fate[]): void {
  let met = 0;
  cloud.fate = (call) => (call.action === action ? (fates[met++] ?? 'serve') : 'serve');
}

/** A direct update of the zone, past the command. */
function updateByHand(zone: string, token = 'by-hand'): void {
  cloud.stack.begin({ ...cloud.stack.parameters, WebhookOriginZone: zone }, token);
}

describe('a move', () => {
  it('ends in the other zone with the same address and the consumers on', async () => {
    const printed = await moveOrigin(cloud, '--zone', '2', '--yes', '--json');
    expect(printed.exitCode).toBe(0);
    expect(JSON.parse(printed.stdout)).toEqual({
      environment: first.name,
      stack: first.stackId,
      address,
      zone: '2',
      reserve: false,
      availabilityZone: first.zones[1],
      natGatewayId: facts(cloud).heldBy,
      updates: [
        { zone: 'none', reserve: false, seconds: expect.any(Number) },
        { zone: '2', reserve: false, seconds: expect.any(Number) },
      ],
    });
    expect(facts(cloud)).toMatchObject({ ...inZone('2'), status: 'UPDATE_COMPLETE' });
  });

  it('changes the zone and nothing else: template, other parameters, role and tags stay', async () => {
    await move('3');
    expect(zonesOf(updates())).toEqual(['none', '3']);
    const tokens = updates().map(({ input }) => input.ClientRequestToken);
    expect(new Set(tokens).size).toBe(2);
    for (const { input } of updates()) {
      expect(input).toEqual({
        StackName: cloud.stack.id,
        UsePreviousTemplate: 'true',
        Parameters: [
          expect.objectContaining({ ParameterKey: 'WebhookOriginZone' }),
          { ParameterKey: 'BootstrapVersion', UsePreviousValue: 'true' },
        ],
        Capabilities: cloud.stack.capabilities,
        ClientRequestToken: expect.stringMatching(/^[a-zA-Z0-9][-a-zA-Z0-9]{0,127}$/),
      });
    }
  });

  it('switches the consumer off before the gateway goes, and on after it is back', async () => {
    await move('2');
    const ended = cloud.stack.events
      .toReversed()
      .filter(({ type, status }) => status.endsWith('_COMPLETE') && /NatGateway|EventSource/.test(type))
      .map(({ type, status }) => `${type.split('::')[2]} ${status}`);
    expect(ended.slice(0, 2)).toEqual(['EventSourceMapping UPDATE_COMPLETE', 'NatGateway DELETE_COMPLETE']);
    expect(ended.slice(2)).toEqual(
      expect.arrayContaining(['NatGateway CREATE_COMPLETE', 'EventSourceMapping UPDATE_COMPLETE']),
    );
  });

  it('tells each step of each resource as it goes, and how long it took', async () => {
    const { stderr } = await move('2');
    expect(stderr).toMatch(/^ {2}\d+:\d\d {2}WebhookOriginNatGateway DELETE_IN_PROGRESS$/m);
    expect(stderr).toMatch(/^ {2}\d+:\d\d {2}WebhookOriginNatGateway DELETE_COMPLETE after \d+ s$/m);
    expect(stderr.match(/WebhookOriginNatGateway CREATE_COMPLETE/g)).toHaveLength(1);
    expect(stderr).toMatch(/^Zone none: done after \d+ s\.$/m);
  });

  it('switches off every consumer that needs the origin: over direct access the fan-out does too', async () => {
    const direct = await deploy({ databaseAccess: 'direct' });
    let off: readonly string[] = [];
    direct.fate = ({ action }) => {
      if (action === 'DescribeAddresses' && off.length === 0) off = facts(direct).consumers;
      return 'serve';
    };
    expect((await moveOrigin(direct, '--zone', '2', '--yes')).exitCode).toBe(0);
    await direct.stop();
    expect(off).toEqual(['Disabled', 'Disabled']);
    expect(facts(direct)).toMatchObject(inZone('2'));
  });

  it('does nothing when the origin is in that zone already', async () => {
    const printed = await moveOrigin(cloud, '--zone', '1');
    expect(printed.exitCode).toBe(0);
    expect(printed.stderr).toContain('there is nothing to do');
    expect(updates()).toEqual([]);
  });

  it('needs one update only when the address is on no gateway', async () => {
    updateByHand('none');
    cloud.stack.settle();
    expect(facts(cloud)).toMatchObject({ gateways: [], consumers: expect.arrayContaining(['Disabled']) });
    await move('1');
    expect(zonesOf(updates())).toEqual(['1']);
    expect(facts(cloud)).toMatchObject(inZone('1'));
  });
});

describe('before a move', () => {
  const answered = async (answer: string) => {
    const keyboard = Object.assign(new PassThrough(), { isTTY: true });
    keyboard.end(answer);
    const args = ['move-origin', '--outputs', cloud.outputs, '--zone', '2', '--interval', '0.001'];
    return runWallet(args, { stdin: keyboard });
  };

  it.each(['y\n', 'YES\n'])('says what it will do and asks; %j is yes', async (answer) => {
    const { exitCode, stderr } = await answered(answer);
    expect(stderr.indexOf('1. Update the stack to zone none')).toBeLessThan(stderr.indexOf('Do it? [y/N]'));
    expect(exitCode).toBe(0);
    expect(facts(cloud)).toMatchObject(inZone('2'));
  });

  it.each(['n\n', '\n', ''])('changes nothing when the answer is %j', async (answer) => {
    expect(await answered(answer)).toMatchObject({ exitCode: 1, stdout: '' });
    expect(updates()).toEqual([]);
  });

  it('asks for --yes without a terminal', async () => {
    const printed = await moveOrigin(cloud, '--zone', '2');
    expect(printed).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('Add --yes') });
    expect(updates()).toEqual([]);
  });

  it('shows the plan with --dry-run, and does nothing', async () => {
    const words = await moveOrigin(cloud, '--zone', '2', '--dry-run');
    expect(words).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('from zone 1 to zone 2') });
    const { stdout } = await moveOrigin(cloud, '--zone', '2', '--dry-run', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      from: '1',
      zone: '2',
      steps: [
        { step: 'update', zone: 'none' },
        { step: 'update', zone: '2' },
      ],
    });
    expect(updates()).toEqual([]);
  });
});

describe('a move is refused', () => {
  it.each([['4'], ['0'], ['none'], [`${first.zones[1]}`], ['']])(
    'to zone %j, as used wrongly',
    async (zone) => {
      expect(await moveOrigin(cloud, '--zone', zone, '--yes')).toMatchObject({ exitCode: 2, stdout: '' });
      expect(updates()).toEqual([]);
    },
  );

  it('while another update runs', async () => {
    cloud.stepsPerCall = 0;
    updateByHand('none', 'cdk-deploy-7');
    const said = await expectNoMove();
    expect(said).toContain(`Another update of stack ${first.stackId} runs: UPDATE_IN_PROGRESS since 20`);
    expect(said).toContain('Run this command again when it has ended');
    expect(updates()).toEqual([]);
  });

  it('when another update begins between its own two, which it says', async () => {
    let begun = false;
    cloud.fate = ({ action }) => {
      if (action !== 'DescribeAddresses' || begun) return 'serve';
      begun = true;
      updateByHand('3', 'cdk-deploy-8');
      return 'serve';
    };
    expect(await expectNoMove()).toContain(`Another update of stack ${first.stackId} runs`);
    cloud.stack.settle();
    await expectMove('2');
  });

  it.each([
    ['UPDATE_ROLLBACK_FAILED', `aws cloudformation continue-update-rollback --stack-name ${first.stackId}`],
    [
      'UPDATE_FAILED',
      `aws cloudformation rollback-stack --stack-name ${first.stackId} --region ${first.region}`,
    ],
    ['ROLLBACK_COMPLETE', `npx cdk deploy ${first.stackId}`],
    ['REVIEW_IN_PROGRESS', `npx cdk deploy ${first.stackId}`],
  ])('while the stack is %s, with the remedy', async (status, remedy) => {
    cloud.stack.status = status;
    const said = await expectNoMove();
    expect(said).toContain(`Stack ${first.stackId} is ${status}`);
    expect(said).toContain(remedy);
    expect(updates()).toEqual([]);
  });

  it('when the outputs file is of another deployment', async () => {
    const [elasticIp] = cloud.account.addresses.values();
    const resource = cloud.stack.resources.get('WebhookOriginElasticIp');
    Object.assign(resource ?? {}, { attributes: { PublicIp: '203.0.113.99' } });
    expect(await expectNoMove()).toContain(
      `has the webhook origin 203.0.113.99, the outputs file has ${elasticIp?.address}`,
    );
    expect(updates()).toEqual([]);
  });

  it('for lack of a permission, which it names', async () => {
    fateOf('UpdateStack', 'end-before');
    expect(await expectNoMove()).toContain('Sign in as someone who has cloudformation:UpdateStack');
  });
});

it('a direct update from zone to zone is rolled back with nothing lost, and the command still moves', async () => {
  const before = facts(cloud);
  updateByHand('2');
  cloud.stack.settle();
  expect(facts(cloud)).toEqual({ ...before, status: 'UPDATE_ROLLBACK_COMPLETE' });
  const failed = cloud.stack.events.find(({ status }) => status === 'CREATE_FAILED');
  expect(failed?.logicalId).toBe('WebhookOriginNatGateway');
  expect(failed?.reason).toContain('is already associated');
  await expectMove('2');
});

describe('trouble on the way', () => {
  it.each(['DescribeStacks', 'DescribeStackEvents', 'UpdateStack', 'DescribeNatGateways'])(
    'throttling of %s is waited out',
    async (action) => {
      fateOf(action, 'throttle', 'throttle');
      await expectMove('2');
    },
  );

  it.each<[string, Fate]>([
    ['request', 'lose-request'],
    ['answer', 'lose-answer'],
  ])('a lost %s of an update is sent again, and taken once', async (_, fate) => {
    fateOf('UpdateStack', fate, 'serve', fate);
    await expectMove('2');
    expect(zonesOf(updates())).toEqual(['none', 'none', '2', '2']);
    expect(new Set(updates().map(({ input }) => input.ClientRequestToken)).size).toBe(2);
    expect(cloud.stack.events.filter(({ reason }) => reason === 'User Initiated')).toHaveLength(2);
  });

  const fail = (type: string, action: 'CREATE' | 'UPDATE' | 'DELETE', reason: string) =>
    cloud.stack.plannedFailures.push({ type: `AWS::${type}`, action, reason });

  it('a gateway that cannot be made is reported, webhooks wait, and another zone can be taken', async () => {
    fail('EC2::NatGateway', 'CREATE', 'Network vpc has insufficient capacity');
    const said = await expectNoMove();
    expect(said).toContain(
      `The update to zone 2 failed; stack ${first.stackId} is UPDATE_ROLLBACK_COMPLETE.`,
    );
    expect(said).toContain('Network vpc has insufficient capacity');
    expect(said).toContain('No gateway holds the address now, and webhooks wait.');
    expect(facts(cloud)).toMatchObject({ address, heldBy: undefined, zone: 'none' });
    await expectMove('1');
  });

  it('a consumer that cannot be switched off leaves everything as it was', async () => {
    fail('Lambda::EventSourceMapping', 'UPDATE', 'busy');
    expect(await expectNoMove()).toContain('Everything is as it was, in zone 1.');
    expect(facts(cloud)).toMatchObject({ ...inZone('1'), status: 'UPDATE_ROLLBACK_COMPLETE' });
  });

  it('an address that is gone stops everything', async () => {
    cloud.account.addresses.clear();
    updateByHand('none');
    cloud.stack.settle();
    expect(await expectNoMove()).toContain(`The account has no Elastic IP ${address} in ${first.region}`);
    expect(updates()).toEqual([]);
  });

  it('what was changed past CloudFormation is found at the end', async () => {
    for (const mapping of cloud.account.mappings.values()) mapping.state = 'Disabled';
    expect(await expectNoMove('1')).toMatch(/the consumer \S+ is disabled; the consumer \S+ is disabled/);
  });
});
