import type { IConstruct } from 'constructs';
import { acknowledge } from './acknowledge';

/** Acknowledges that a subnet or an instance names its zone. */
export function acknowledgeZone(resource: IConstruct): void {
  acknowledge(
    resource,
    ['CloudFormation-Validate::W3010'],
    "The table names the zones. Fn::GetAZs may give them in another order one day, and each subnet would be replaced by one of another's range.",
  );
}
