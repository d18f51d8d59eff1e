import { parseCIDR } from 'ipaddr.js';
import { isAbsentOr, propertyRule } from '../property-rule';
import { possibleTexts } from '../text';

/** RFC 1918, and RFC 6598 for networks between carriers. */
const privateBlocks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '127.0.0.0/8'].map(
  (block) => parseCIDR(block),
);

const isPrivate = isAbsentOr((value, template) => possibleTexts(value, template).every(isPrivateBlock));

function isPrivateBlock(text: string): boolean {
  // A value of the template itself, such as the VPC's own block.
  if (text.startsWith('‹')) return !text.startsWith('‹parameter ');
  try {
    const [address, bits] = parseCIDR(text);
    return privateBlocks.some(
      ([block, blockBits]) =>
        address.kind() === block.kind() && bits >= blockBits && address.match([block, blockBits] as never),
    );
  } catch {
    return false;
  }
}

/** Not even a part of the internet: nothing in the network has a public address. */
export const openSecurityGroup = propertyRule({
  id: 'open-security-group',
  refuses: 'A security group that lets the internet in',
  remedy: "Name the security group that may come in, or a block of the network's own.",
  checks: [
    { type: 'AWS::EC2::SecurityGroup', path: 'SecurityGroupIngress.*.CidrIp', accepts: isPrivate },
    { type: 'AWS::EC2::SecurityGroupIngress', path: 'CidrIp', accepts: isPrivate },
  ],
});
