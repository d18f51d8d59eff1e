import {
  type AllowListFormat,
  allowListFormatNames,
  allowListFormats,
  formatAllowList,
} from '../domain/allow-list';
import { byId, element } from './dom';
import type { DashboardFacts } from './facts';

/** Shows the address that webhooks come from, its reserve, and allow-lists to copy. */
export function startOrigin({
  environment,
  region,
  webhookOriginAddress: address,
  webhookOriginReserve: reserve,
  deprecation,
}: DashboardFacts): void {
  const format = byId('list-format', HTMLSelectElement);
  const origin = {
    environment,
    region,
    address,
    ...(reserve && { reserve }),
    ...(deprecation && { deprecation }),
  };

  byId('origin-address', HTMLElement).textContent = `${address}/32`;
  byId('origin-reserve', HTMLElement).hidden = !reserve;
  byId('reserve-address', HTMLElement).textContent = reserve ? `${reserve}/32` : '';
  byId('origin-local', HTMLElement).hidden = !address.startsWith('127.');
  format.replaceChildren(
    ...allowListFormatNames.map((name) => element('option', { value: name }, allowListFormats[name].title)),
  );
  format.value = 'nginx';

  function show(): void {
    const name = format.value as AllowListFormat;
    byId('list-use', HTMLElement).textContent = allowListFormats[name].use;
    byId('list-text', HTMLElement).textContent = formatAllowList(name, [origin]);
  }
  format.addEventListener('change', show);
  show();
}
