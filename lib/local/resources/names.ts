import { createHash } from 'node:crypto';
import { LOCAL_ACCOUNT_ID } from '../function-runtime/environment';

/** The stack that a resource belongs to. */
export interface StackIdentity {
  readonly stackName: string;
  readonly region: string;
}

/** A physical name like those that CloudFormation makes up, but the same on every run. */
export const physicalName = ({ stackName }: StackIdentity, logicalId: string): string =>
  `${stackName}-${logicalId}`;

/** `resource` is the ARN's last part, such as `function:NAME`. */
export const arn = ({ region }: StackIdentity, service: string, resource: string): string =>
  `arn:aws:${service}:${region}:${LOCAL_ACCOUNT_ID}:${resource}`;

/** Hexadecimal digits that belong to a resource for good. */
export const digitsOf = ({ stackName, region }: StackIdentity, logicalId: string): string =>
  createHash('sha256').update(`${region}/${stackName}/${logicalId}`).digest('hex');

/** In the form of a UUID. */
export function uuidOf(identity: StackIdentity, logicalId: string): string {
  const digits = digitsOf(identity, logicalId);
  return [digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(13, 16)}`, `8${digits.slice(17, 20)}`]
    .concat(digits.slice(20, 32))
    .join('-');
}
