import { requireDelivered } from '../../cli/delivery-outcome';
import type { Attempt } from '../../domain/delivery';

it.each([
  [401, 'client_error', 'answered 401', 'refused the signature'],
  [410, 'gone', 'answered 410', 'webhook enable'],
  [302, 'redirect_not_followed', 'answered 302', 'Redirects are not followed'],
  [404, 'client_error', 'answered 404', 'check the path'],
  [500, 'server_error', 'answered 500', 'its log'],
  [null, 'connection_refused', 'did not answer', 'Nothing listens'],
  [null, 'timeout', 'did not answer', 'answer within 15 s'],
  [null, 'connect_timeout', 'did not answer', 'firewall'],
  [null, 'certificate_wrong_name', 'did not answer', 'a certificate'],
  [null, 'tls_failed', 'did not answer', 'a certificate'],
  [null, 'unreachable', 'did not answer', 'leads to the receiver'],
])('a delivery that ends with %s %s has its own remedy', (status, reason, said, remedy) => {
  const attempt = { outcome: 'failed', status, reason } as Attempt;
  expect(() => requireDelivered(attempt)).toThrow(
    expect.objectContaining({
      message: expect.stringContaining(said),
      remedy: expect.stringContaining(remedy),
    }),
  );
});
