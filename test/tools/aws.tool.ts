import { formatAllowList } from '../../domain/allow-list';
import { type LoopbackServer, startLoopbackServer } from '../../local/network/loopback-server';
import { run, toolFolder } from './tool';

const folder = toolFolder();
let server: LoopbackServer;
let requests: string[];
beforeEach(async () => {
  requests = [];
  server = await startLoopbackServer(async (request) => {
    requests.push(String(request.body));
    return { status: 200, headers: {}, body: '<Response><return>true</return></Response>' };
  }, 100_000);
});
afterEach(() => server.close());

/** The AWS command line, which checks its input against the service's own model, against an endpoint of ours. */
function authorizeIngress(input: string) {
  const file = folder.write('input.json', input);
  const group = ['--group-id', 'sg-0123456789abcdef0'];
  const args = ['--cli-input-json', `file://${file}`, '--endpoint-url', server.url];
  return run('aws', ['ec2', 'authorize-security-group-ingress', ...group, ...args], {
    HOME: folder.path(),
    AWS_PAGER: '',
    AWS_ACCESS_KEY_ID: 'none',
    AWS_SECRET_ACCESS_KEY: 'none',
    AWS_REGION: 'eu-central-1',
    AWS_DEFAULT_REGION: 'eu-central-1',
  });
}

const origin = {
  environment: 'eu',
  region: 'eu-central-1',
  address: '203.0.113.7',
  reserve: '203.0.113.8',
};
const list = formatAllowList('aws-security-group', [origin]);

it('the AWS command line sends the rules of the security group', async () => {
  const { exitCode, output } = await authorizeIngress(list);
  expect(`${exitCode} ${output}`).toMatch(/^0 /);
  const sent = new URLSearchParams(requests[0]);
  expect([1, 2].map((index) => sent.get(`IpPermissions.1.IpRanges.${index}.CidrIp`))).toEqual([
    '203.0.113.7/32',
    '203.0.113.8/32',
  ]);
});

it('the AWS command line would not send what its model does not know', async () => {
  const { exitCode, output } = await authorizeIngress(JSON.stringify({ ...JSON.parse(list), surplus: true }));
  expect(exitCode).not.toBe(0);
  expect(output).toContain('surplus');
  expect(requests).toEqual([]);
});
