import { isPublicAddress } from '../../cli/origin';

it.each([
  ['3.120.14.9', true],
  ['203.0.113.7', true],
  ['127.0.0.1', false],
  ['10.10.4.2', false],
  ['100.64.0.1', false],
  ['169.254.169.254', false],
  ['224.0.0.1', false],
  ['0.0.0.0', false],
  ['255.255.255.255', false],
  ['', false],
  ['203.0.113.256', false],
  ['203.0.113.07', false],
  ['0xcb007107', false],
  ['3405803783', false],
  ['203.0.113.7/32', false],
  ['203.0.113.7\n', false],
  ['203.0.113.7; allow all', false],
  ['::ffff:203.0.113.7', false],
])('%j is a public address: %s', (address, expected) => {
  expect(isPublicAddress(address)).toBe(expected);
});
