import { expect, test } from 'vitest'
import { tokenFailure } from '../../../src/connect/platform/token-answer.ts'

const error = (code: string) => JSON.stringify({ error: code })
const PAGE = '<!DOCTYPE html><title>Blocked</title>'

test.each([
  // The user revoked access, or the token is dead.
  ...[400, 401, 403, 404, 422, 429].map((status) => [status, error('invalid_grant'), 'InvalidGrantError']),
  // Our credentials are wrong, for everybody.
  ...[400, 401, 403].map((status) => [status, error('invalid_client'), 'ConfigurationError']),
  // Refused; real servers answer so to one dead token.
  ...[
    'invalid_request',
    'unauthorized_client',
    'invalid_scope',
    'unsupported_grant_type',
    'of_their_own',
  ].map((code) => [400, error(code), 'PlatformUnavailableError refused']),
  [400, '', 'PlatformUnavailableError refused'],
  [401, PAGE, 'PlatformUnavailableError refused'],
  [403, '{}', 'PlatformUnavailableError refused'],
  [404, PAGE, 'PlatformUnavailableError refused'],
  // Later, or a firewall.
  [403, PAGE, 'PlatformUnavailableError error'],
  [403, `\n  <html lang="en">`, 'PlatformUnavailableError error'],
  ...['temporarily_unavailable', 'server_error', 'slow_down'].map((code) => [
    400,
    error(code),
    'PlatformUnavailableError error',
  ]),
  [408, '{}', 'PlatformUnavailableError error'],
  [425, '{}', 'PlatformUnavailableError error'],
  [429, '{}', 'PlatformUnavailableError busy'],
  [429, error('invalid_client'), 'PlatformUnavailableError busy'],
  // An outage.
  ...[500, 502, 503].map((status) => [status, '', 'PlatformUnavailableError error']),
  [500, error('invalid_grant'), 'PlatformUnavailableError error'],
  [503, error('invalid_client'), 'PlatformUnavailableError error'],
  [302, '', 'PlatformUnavailableError error'],
  [200, PAGE, 'PlatformUnavailableError unreadable'],
] as [number, string, string][])(
  'an answer of the token endpoint with %i and %j is a %s',
  (status, text, expected) => {
    const failure = tokenFailure({ status, text, retryAfterMs: 7_000 })
    const kind =
      failure.constructor.name === 'PlatformUnavailableError' && 'kind' in failure ? ` ${failure.kind}` : ''
    expect(`${failure.constructor.name}${kind}`).toBe(expected)
    if (failure.status === 503) expect(failure.retryAfterMs).toBe(7_000)
  },
)
