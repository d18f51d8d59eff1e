import {
  type AllowListFormatName,
  allowListFormatNames,
  allowListFormats,
  formatAllowList,
} from '../cli/allow-lists/formats';
import { byId, element } from './dom';
import type { DashboardFacts } from './facts';

/** Shows the address that webhooks come from, its reserve, and allow-lists to copy. */
export function startOrigin({
  apiBaseUrl,
  environment,
  region,
  webhookOriginAddress: address,
  webhookOriginReserve: reserve,
  deprecation,
}: DashboardFacts): void {
  const format = byId('list-format', HTMLSelectElement);
  const port = byId('list-port', HTMLInputElement);
  const problem = byId('list-port-problem', HTMLElement);
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
    const name = format.value as AllowListFormatName;
    const number = Number(port.value);
    const good = /^\d{1,5}$/.test(port.value) && number >= 1 && number <= 65_535;
    port.setAttribute('aria-invalid', String(!good));
    problem.textContent = good ? '' : 'Give a port from 1 to 65535.';
    if (!good) return;
    byId('list-use', HTMLElement).textContent = allowListFormats[name].use;
    const link = byId('list-link', HTMLAnchorElement);
    link.href = `${apiBaseUrl}/webhook-origins/${name}`;
    link.textContent = link.href;
    byId('list-text', HTMLElement).textContent = formatAllowList(name, [origin], { port: number });
  }
  format.addEventListener('change', show);
  port.addEventListener('input', show);
  show();
}
