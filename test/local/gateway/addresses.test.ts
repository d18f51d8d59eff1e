import { Cleanup } from '../../../local/cleanup';
import { openApiAddresses } from '../../../local/gateway/addresses';
import { readApi } from '../../../local/gateway/api';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const resource = (type: string, Properties: object = {}) => ({
  Type: `AWS::ApiGateway::${type}`,
  Properties,
});
const ofFirst = { RestApiId: { Ref: 'FirstApi' } };
const ofSecond = { RestApiId: { Ref: 'SecondApi' } };
const Resources = {
  FirstApi: resource('RestApi'),
  FirstStage: resource('Stage', { ...ofFirst, StageName: 'first' }),
  SecondApi: resource('RestApi'),
  SecondStage: resource('Stage', { ...ofSecond, StageName: 'second' }),
  Domain: resource('DomainName', { DomainName: 'second.example.com' }),
  Mapping: resource('BasePathMapping', { ...ofSecond, DomainName: { Ref: 'Domain' } }),
};

it("replaces each API's AWS addresses by those on this machine, and delays requests until it is ready", async () => {
  const stack = { name: 'WalletEu', region: 'eu-central-1', template: { Resources } };
  const { gateways, urls, localize } = await openApiAddresses(stack, () => 0, cleanup);
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

  const early = fetch(`${first}/`);
  const findFunction = () => ({ invoke: () => Promise.reject() });
  gateways
    .get('FirstApi')
    ?.serve({ api: readApi(new Map(), 'FirstApi'), findFunction, region: stack.region });
  expect((await early).status).toBe(403);
});
