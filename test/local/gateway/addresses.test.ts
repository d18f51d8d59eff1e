import type { Template } from '../../../local/assembly/manifest';
import { type ApiAddresses, openApiAddresses } from '../../../local/gateway/addresses';
import { groups, read } from './support';

const of = (api: string) => ({ RestApiId: { Ref: api } });
const api = (name: string) => ({
  [`${name}Api`]: { Type: 'AWS::ApiGateway::RestApi' },
  [`${name}Stage`]: {
    Type: 'AWS::ApiGateway::Stage',
    Properties: { ...of(`${name}Api`), StageName: name.toLowerCase() },
  },
});
const template: Template = {
  Resources: {
    ...api('First'),
    ...api('Second'),
    Domain: { Type: 'AWS::ApiGateway::DomainName', Properties: { DomainName: 'second.example.com' } },
    Mapping: {
      Type: 'AWS::ApiGateway::BasePathMapping',
      Properties: { ...of('SecondApi'), DomainName: { Ref: 'Domain' } },
    },
  },
};

const opened: ApiAddresses[] = [];
const open = async (ports: Readonly<Record<string, number>> = {}) => {
  const stack = { name: 'WalletEu', region: 'eu-central-1', template };
  const addresses = await openApiAddresses(stack, (stageName) => ports[stageName] ?? 0);
  opened.push(addresses);
  return addresses;
};
afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

it("replaces each API's AWS addresses by those on this machine", async () => {
  const { urls, localize } = await open();
  const { first, second } = urls;
  expect(first).not.toBe(second);
  const host = (id: string) => `https://WalletEu-${id}.execute-api.eu-central-1.amazonaws.com`;
  const others = { foreign: 'https://api.example.com/first', count: 1, nothing: null };
  expect(
    localize({
      base: `${host('FirstApi')}/first`,
      paths: [`${host('FirstApi')}/first/x`, `connect ${host('SecondApi')}/second/;`],
      origin: host('SecondApi'),
      domain: 'https://second.example.com/x',
      ...others,
    }),
  ).toEqual({
    base: first,
    paths: [`${first}/x`, `connect ${second}/;`],
    origin: second,
    domain: `${second}/x`,
    ...others,
  });
  expect(localize(undefined)).toBeUndefined();
});

it('delays early requests until the API is ready', async () => {
  const { gateways, urls } = await open();
  const early = fetch(`${urls.first}/`);
  const findFunction = () => ({ invoke: () => Promise.reject() });
  gateways.get('FirstApi')?.serve({ api: read(groups()), findFunction, region: 'eu-central-1' });
  expect((await early).status).toBe(403);
});

it('uses a port for each stage, and releases all when one is in use', async () => {
  const portsOf = ({ urls }: ApiAddresses) =>
    ['first', 'second'].map((name) => Number(new URL(urls[name] ?? '').port));
  const taken = await open();
  const [first = 0, second = 0] = portsOf(taken);
  await expect(open({ second })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await taken.close();
  expect(portsOf(await open({ first, second }))).toEqual([first, second]);
});
