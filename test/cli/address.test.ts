import { kindOfAddress } from '../../cli/address';

it.each([
  ['3.120.14.9', 'public'],
  ['203.0.113.7', 'documentation'],
  ['192.0.2.1', 'documentation'],
  ['198.51.100.255', 'documentation'],
  ['127.0.0.1', 'loopback'],
  ['10.10.4.2', 'unusable'],
  ['100.64.0.1', 'unusable'],
  ['169.254.169.254', 'unusable'],
  ['224.0.0.1', 'unusable'],
  ['0.0.0.0', 'unusable'],
  ['255.255.255.255', 'unusable'],
  ['', 'malformed'],
  ['203.0.113.256', 'malformed'],
  ['203.0.113.07', 'malformed'],
  ['0xcb007107', 'malformed'],
  ['3405803783', 'malformed'],
  ['203.0.113.7/32', 'malformed'],
  ['203.0.113.7\n', 'malformed'],
  ['203.0.113.7; allow all', 'malformed'],
  ['::ffff:203.0.113.7', 'malformed'],
])('finds %j %s', (address, kind) => {
  expect(kindOfAddress(address)).toBe(kind);
});
