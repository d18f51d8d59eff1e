import type { Environment } from '../../../lib/environment';
import { openTokenMaker, type TokenMaker } from '../../support/api';
import type { LocalEnvironment } from '../../support/local-environment';
import type { Organization } from '../../support/organization';
import { GroupStock } from './groups';

/** A running environment with an organization and groups to delete. */
export interface Place {
  readonly name: string;
  readonly baseUrl: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly tokens: TokenMaker;
  readonly groups: GroupStock;
}

export async function openPlace(
  local: LocalEnvironment,
  { name, tokenIssuer }: Pick<Environment, 'name' | 'tokenIssuer'>,
): Promise<Place> {
  const outputs = local.outputs(name);
  const organization = await local.walletJson<Organization>(name, 'seed');
  return {
    name,
    outputs,
    baseUrl: outputs.ApiBaseUrl ?? '',
    tokens: await openTokenMaker(local, name, tokenIssuer),
    groups: new GroupStock(local.stateDirectory, name, organization),
  };
}
