/** Why a receiver gave no response: a name for the attempt's row, from an error of Node's sockets, TLS or HTTP parser. */
export function failureReason(error: unknown): string {
  const { code = '', message = '' } = error as NodeJS.ErrnoException;
  const named = reasons[code];
  if (message === 'socket hang up') return 'connection_closed';
  if (named) return named;
  if (certificateCodes.test(code)) return 'certificate_untrusted';
  if (code.startsWith('HPE_')) return 'response_malformed';
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO') return 'tls_failed';
  return 'connection_failed';
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ECONNABORTED: 'connection_reset',
  ETIMEDOUT: 'connect_timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  CERT_HAS_EXPIRED: 'certificate_expired',
  CERT_NOT_YET_VALID: 'certificate_not_yet_valid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate_wrong_name',
  HPE_HEADER_OVERFLOW: 'response_headers_too_large',
};

/** OpenSSL's verification results: https://nodejs.org/docs/latest-v24.x/api/tls.html#x509-certificate-error-codes */
const certificateCodes =
  /^(UNABLE_TO_|CERT_|CRL_|ERROR_IN_C|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|PATH_LENGTH_|INVALID_PURPOSE|HOSTNAME_MISMATCH)/;
