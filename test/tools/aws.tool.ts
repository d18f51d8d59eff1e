import { formatAllowList } from '../../cli/allow-lists/formats';
import { type LoopbackServer, startLoopbackServer } from '../../local/network/loopback-server';
import { all, reserving } from '../cli/allow-lists/origins';
import { run, toolFolder } from './tool';

const folder = toolFolder();
let server: LoopbackServer;
let requests: string[];
beforeEach(async () => {
  requests = [];
  server = await startLoopbackServer(async (request) => {
    const sent = String(request.body);
    requests.push(sent);
    const body = sent.startsWith('{') ? '{}' : '<Response><return>true</return></Response>';
    return { status: 200, headers: {}, body };
  }, 100_000);
});
afterEach(() => server.close());

/** The AWS command line, which checks its input against the services' own models, against an endpoint of ours. */
async function aws(args: readonly string[], input: string) {
  const file = folder.write('input.json', input);
  return run('aws', [...args, '--cli-input-json', `file://${file}`, '--endpoint-url', server.url], {
    HOME: folder.path(),
    AWS_PAGER: '',
    AWS_ACCESS_KEY_ID: 'none',
    AWS_SECRET_ACCESS_KEY: 'none',
    AWS_REGION: 'eu-central-1',
    AWS_DEFAULT_REGION: 'eu-central-1',
  });
}

const ingress = ['ec2', 'authorize-security-group-ingress', '--group-id', 'sg-0123456789abcdef0'];
const ipSet = ['wafv2', 'create-ip-set'];

it('the AWS command line sends the rules of the security group', async () => {
  const { exitCode, output } = await aws(ingress, formatAllowList('aws-security-group', all));
  expect(`${exitCode} ${output}`).toMatch(/^0 /);
  const sent = new URLSearchParams(requests[0]);
  expect(all.map((_, index) => sent.get(`IpPermissions.1.IpRanges.${index + 1}.CidrIp`))).toEqual(
    all.map(({ address }) => `${address}/32`),
  );
});

it('the AWS command line sends the IP set', async () => {
  const list = formatAllowList('aws-waf', reserving);
  const { exitCode, output } = await aws(ipSet, list);
  expect(`${exitCode} ${output}`).toMatch(/^0 /);
  expect(JSON.parse(requests[0] ?? '')).toEqual(JSON.parse(list));
});

it('the AWS command line would not send what its models do not know', async () => {
  const list = JSON.stringify({ ...JSON.parse(formatAllowList('aws-waf', reserving)), surplus: true });
  const { exitCode, output } = await aws(ipSet, list);
  expect(exitCode).not.toBe(0);
  expect(output).toContain('surplus');
  expect(requests).toEqual([]);
});
