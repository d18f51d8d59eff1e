/** With these an environment proves its own deliveries. The migration's function `ensure_probe` creates them. */
export const probe = {
  organizationId: 'or-probe-00000-0000000000000000',
  webhookId: 'wh-probe-00000-0000000000000000',
  kind: 'webhook.probe',
} as const;

export const isOfProbe = (id: string): boolean => id === probe.organizationId || id === probe.webhookId;

/** Between two probes, and a period of what counts them. */
export const probeMinutes = 5;

/** Milliseconds after which a probe proves nothing: it is refused, and attempts of its delivery end. */
export const longestProbeAge = 120_000;

/** The secret's version of every webhook to the environment's own receiver. */
export const checkedSecretVersion = 1;
