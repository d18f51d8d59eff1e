import { type AllowListFormat, hashed, lines } from './allow-list';

/**
 * Selects pods by label, never all of a namespace. The cluster has to keep the source address, such as with
 * `externalTrafficPolicy: Local`.
 * Source: https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export const kubernetes: AllowListFormat = {
  title: 'Kubernetes NetworkPolicy',
  use: 'kubectl apply -f FILE, with the label below on the receiving pods and --port as their own port. The Service needs externalTrafficPolicy: Local.',
  hasHeader: true,
  render: ({ header, entries, port, name }) =>
    lines(
      hashed(header),
      'apiVersion: networking.k8s.io/v1',
      'kind: NetworkPolicy',
      'metadata:',
      `  name: ${name}`,
      'spec:',
      '  podSelector:',
      '    matchLabels:',
      `      app.kubernetes.io/name: ${name}`,
      '  policyTypes:',
      '    - Ingress',
      '  ingress:',
      '    - from:',
      entries.flatMap(({ cidr, description }) => [
        `        # ${description}`,
        '        - ipBlock:',
        `            cidr: ${cidr}`,
      ]),
      '      ports:',
      '        - protocol: TCP',
      `          port: ${port}`,
    ),
};
