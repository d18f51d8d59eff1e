import type { Template } from '../../../local/assembly/manifest';
import { type ApiAddresses, openApiAddresses } from '../../../local/gateway/addresses';
import { readApi } from '../../../local/gateway/model';
import { deployed, groups, portOf } from './support';

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
  const addresses = await openApiAddresses(
    { name: 'WalletEu', region: 'eu-central-1', template },
    (stageName) => ports[stageName] ?? 0,
  );
  opened.push(addresses);
  return addresses;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

const host = (id: string) => `https://WalletEu-${id}.execute-api.eu-central-1.amazonaws.com`;

it('every API has its own local address, which replaces its addresses at AWS', async () => {
  const { gateways, localize } = await open();
  const [first, second] = ['FirstApi', 'SecondApi'].map((id) => gateways.get(id)?.url);
  expect(first).not.toBe(second);
  expect(
    localize({
      base: `${host('FirstApi')}/first`,
      paths: [`${host('FirstApi')}/first/x`, `connect ${host('SecondApi')}/second/;`],
      origin: host('SecondApi'),
      domain: 'https://second.example.com/x',
      foreign: 'https://api.example.com/first',
      count: 1,
      nothing: null,
    }),
  ).toEqual({
    base: first,
    paths: [`${first}/x`, `connect ${second}/;`],
    origin: second,
    domain: `${second}/x`,
    foreign: 'https://api.example.com/first',
    count: 1,
    nothing: null,
  });
});

it('a request that arrives before the API is served waits for it', async () => {
  const { gateways } = await open();
  const gateway = gateways.get('FirstApi');
  const early = fetch(`${gateway?.url}/`);
  gateway?.serve({
    api: readApi(deployed(groups()), 'Api'),
    findFunction: () => {
      throw new Error('no functions');
    },
    region: 'eu-central-1',
  });
  expect((await early).status).toBe(403);
});

it('ports are chosen by stage, and a taken one releases all the others', async () => {
  const { gateways, close } = await open();
  const [first, second] = [...gateways.values()].map(portOf) as [number, number];
  await expect(open({ second })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await close();
  const again = await open({ first, second });
  expect([...again.gateways.values()].map(portOf)).toEqual([first, second]);
});
