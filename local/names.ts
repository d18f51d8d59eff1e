import { createHash } from 'node:crypto';
import type { Stack } from './assembly/manifest';

/** The AWS account of every local environment. */
export const LOCAL_ACCOUNT_ID = '000000000000';

/** The stack that a resource belongs to. */
export type StackIdentity = Pick<Stack, 'name' | 'region'>;

/** A physical name like those that CloudFormation generates, but the same on every run. */
export const physicalName = (stack: StackIdentity, logicalId: string): string => `${stack.name}-${logicalId}`;

/** `resource` is the ARN's last part, such as `function:NAME`. */
export const arn = ({ region }: StackIdentity, service: string, resource: string): string =>
  `arn:aws:${service}:${region}:${LOCAL_ACCOUNT_ID}:${resource}`;

/** Hexadecimal digits, the same on every run. */
export const resourceHash = ({ name, region }: StackIdentity, logicalId: string): string =>
  createHash('sha256').update(`${region}/${name}/${logicalId}`).digest('hex');

/** The hash in the form of a UUID. */
export const resourceUuid = (stack: StackIdentity, logicalId: string): string =>
  resourceHash(stack, logicalId).replace(
    /^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/,
    (_, a, b, c, d, e) => `${a}-${b}-4${c}-8${d}-${e}`,
  );
