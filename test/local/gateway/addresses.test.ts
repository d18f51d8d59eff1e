import type { Template } from '../../../local/assembly/manifest';
import { Cleanup } from '../../../local/cleanup';
import { openApiAddresses } from '../../../local/gateway/addresses';
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
const cleanup = new Cleanup();
afterEach(() => cleanup.run());
const open = () => openApiAddresses({ name: 'WalletEu', region: 'eu-central-1', template }, () => 0, cleanup);

it("replaces each API's AWS addresses by those on this machine", async () => {
  const { urls, localize } = await open();
  const { first, second } = urls;
  expect(first).not.toBe(second);
  const host = (id: string) => `https://WalletEu-${id}.execute-api.eu-central-1.amazonaws.com`;
  const paths = [`${host('FirstApi')}/first/x`, `connect ${host('SecondApi')}/second/;`];
  const others = { foreign: 'https://api.example.com/first', count: 1, nothing: null };
  expect(
    localize({ paths, origin: host('SecondApi'), domain: 'https://second.example.com/x', ...others }),
  ).toEqual({
    ...{ paths: [`${first}/x`, `connect ${second}/;`], origin: second, domain: `${second}/x` },
    ...others,
  });
});

it('delays early requests until the API is ready', async () => {
  const { gateways, urls } = await open();
  const early = fetch(`${urls.first}/`);
  const findFunction = () => ({ invoke: () => Promise.reject() });
  gateways.get('FirstApi')?.serve({ api: read(groups()), findFunction, region: 'eu-central-1' });
  expect((await early).status).toBe(403);
});
