import { isOff, propertyRule } from '../property-rule';
import { possibleTexts } from '../text';

/** IPv6 has no NAT: each address would be another origin, and reachable from the internet. */
export const ipv6 = propertyRule({
  id: 'ipv6',
  refuses: 'IPv6, or an endpoint that answers by it',
  remedy: 'Keep networks and endpoints to IPv4.',
  types: [/^AWS::EC2::EgressOnlyInternetGateway$/],
  checks: [
    { named: /ipv6|dns64|dual_?stack/i, accepts: isOff },
    {
      named: /(ip_?address|network|record_?ip)_?types?$/i,
      accepts: (value, template) =>
        [value]
          .flat()
          .every((item) => possibleTexts(item, template).every((text) => !/dual|ipv6/i.test(text))),
    },
  ],
});
