import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { formatAllowList } from '../../lib/operations/allow-lists/formats';
import { all } from '../operations/allow-lists/origins';
import { createFolder, type Folder, run } from './tool';

let folder: Folder;
let server: Server;
let requests: string[];
beforeEach(async () => {
  folder = await createFolder();
  requests = [];
  server = createServer(async (request, response) => {
    const body = await text(request);
    requests.push(body);
    response.end(body.startsWith('{') ? '{}' : '<Response><return>true</return></Response>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.close();
  await folder.remove();
});

/** The AWS command line, which checks its input against the services' own models, against an endpoint of ours. */
async function aws(args: readonly string[], input: string) {
  const file = await folder.write('input.json', input);
  const { port } = server.address() as AddressInfo;
  return run(
    'aws',
    [...args, '--cli-input-json', `file://${file}`, '--endpoint-url', `http://127.0.0.1:${port}`],
    {
      HOME: folder.path,
      AWS_PAGER: '',
      AWS_ACCESS_KEY_ID: 'none',
      AWS_SECRET_ACCESS_KEY: 'none',
      AWS_REGION: 'eu-central-1',
      AWS_DEFAULT_REGION: 'eu-central-1',
    },
  );
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
  const list = formatAllowList('aws-waf', all);
  const { exitCode, output } = await aws(ipSet, list);
  expect(`${exitCode} ${output}`).toMatch(/^0 /);
  expect(JSON.parse(requests[0] ?? '')).toEqual(JSON.parse(list));
});

it('the AWS command line would not send what its models do not know', async () => {
  const list = JSON.stringify({ ...JSON.parse(formatAllowList('aws-waf', all)), surplus: true });
  const { exitCode, output } = await aws(ipSet, list);
  expect(exitCode).not.toBe(0);
  expect(output).toContain('surplus');
  expect(requests).toEqual([]);
});
