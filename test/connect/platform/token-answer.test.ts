import { expect, test } from 'vitest'
import { tokenFailure } from '../../../src/connect/platform/token-answer.ts'

const error = (code: string) => JSON.stringify({ error: code })
const PAGE = '<!DOCTYPE html><title>Blocked</title>'

test.each([
  // The user revoked access, or the token is dead.
  ...[400, 401, 403, 404, 422, 429].map((status) => [status, error('invalid_grant'), 'InvalidGrantError']),
  // Our credentials are wrong, which affects all connections.
  ...[400, 401, 403].map((status) => [status, error('invalid_client'), 'ConfigurationError']),
  // Refused; real servers answer so to one dead token.
  ...[
    'invalid_request',
    'unauthorized_client',
    'invalid_scope',
    'unsupported_grant_type',
    'of_their_own',
  ].map((code) => [400, error(code), 'PlatformUnavailableError refused']),
  // Not an OAuth response, so it comes from a maintenance host, a gateway or a firewall.
  ...[400, 401, 403, 404, 405, 407, 410, 421, 451].flatMap((status) =>
    ['', PAGE, 'Not here', '{}', '{"message":"no route"}', '{"error":{"code":7}}', '[]', 'null'].map(
      (text) => [status, text, 'PlatformUnavailableError error'],
    ),
  ),
  // Later.
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
  ...['', error('invalid_grant')].map((text) => [302, text, 'PlatformUnavailableError error']),
  [200, PAGE, 'PlatformUnavailableError unreadable'],
] as [number, string, string][])(
  'an answer of the token endpoint with %i and %j is a %s',
  (status, text, expected) => {
    const failure = tokenFailure({ status, text, retryAfterMs: 7_000, header: () => undefined })
    const kind =
      failure.constructor.name === 'PlatformUnavailableError' && 'kind' in failure ? ` ${failure.kind}` : ''
    expect(`${failure.constructor.name}${kind}`).toBe(expected)
    expect(failure.retryAfterMs).toBe(7_000)
    expect(failure.reason ?? '').not.toContain('redirect')
  },
)

test('an endpoint that has moved is an outage whose reason says where to, without the query and in 200 characters', () => {
  const moved = `https://id.platform.example/v2/${'x'.repeat(200)}`
  const header = (name: string) => (name === 'location' ? `${moved}?client_secret=s` : undefined)
  const { reason } = tokenFailure({ status: 308, text: '', retryAfterMs: undefined, header })
  expect(reason).toBe(
    `the token endpoint answered 308, without an error of OAuth, a redirect to ${moved.slice(0, 200)}`,
  )
})
