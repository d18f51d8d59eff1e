import { highestOffset, portOf, receiverUrl } from '../../../local/shared/ports';

it.each([
  ['api', 0, { offset: 0 }, 8001],
  ['api', 2, { offset: 1_000 }, 9003],
  ['dashboard', 1, { offset: 0 }, 8102],
  ['dashboard', 9, { offset: highestOffset }, 65_535],
  ['api', 1, 'any', 0],
  ['other', 1, { offset: 0 }, 0],
] as const)('the stage %s of environment %d with %j has the port %d', (stage, position, ports, port) => {
  expect(portOf(stage, position, ports)).toBe(port);
});

it('webhooks are received on a port that moves with the others', () => {
  expect([receiverUrl({ offset: 20 }), receiverUrl('any')]).toEqual([
    'http://127.0.0.1:8030/',
    'http://127.0.0.1:8010/',
  ]);
});
