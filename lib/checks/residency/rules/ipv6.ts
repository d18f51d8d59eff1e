import { isOff, propertyRule } from '../property-rule';
import { textsOf } from '../text';

/** IPv6 knows no NAT: an address of its own, to the internet and from it, beside the one that receivers know. */
export const ipv6 = propertyRule({
  id: 'ipv6',
  refuses: 'IPv6, or an endpoint that answers by it',
  remedy: 'Keep networks and endpoints to IPv4.',
  types: [/^AWS::EC2::EgressOnlyInternetGateway$/],
  checks: [
    { named: /ipv6|dns64|dual_?stack/i, holds: isOff },
    {
      named: /(ip_?address|network|record_?ip)_?types?$/i,
      holds: (value, template) =>
        [value].flat().every((item) => textsOf(item, template).every((text) => !/dual|ipv6/i.test(text))),
    },
  ],
});
