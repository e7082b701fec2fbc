/**
 * Compares the changelog with the public names of 1.0.0: each of them still exists, or an entry of 2.0.0 names it, so that whoever
 * updates a product finds what replaces it. The lists are never edited.
 */
import { expect, test } from 'vitest'
import { all, codeIn, files, read, rows } from '../support/documents.ts'

const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean)

/** The exports of the core, and what a generated feature imported, with the file that exports them today. */
const EXPORTS = {
  'src/connect/errors.ts': `
    AppError ConfigurationError ConnectError ConnectionRevokedError DecryptionError EndReason
    InsufficientScopeError InvalidGrantError NotConnectedError NotFoundError OutageKind PlatformError
    PlatformRejectedError PlatformUnavailableError RefreshTooSoonError RefreshedRecentlyError
    StoreUnavailableError TokenRefusedError`,
  'src/connect/express.ts': `
    BeforeHop ConnectPages DescribedHandler HOPS Hop RouteDescription connectRoutes describeRoute
    redirectFailedCallback`,
  'src/connect/index.ts': `
    Api ApiCallEvent Assumption BrowserEvent Call Connect Connection ConnectionEvent ConnectionRecord
    ConnectionRef ConnectionView CreateConnectOptions EncryptionKey EventChannel EventContext
    EventParameter EventRequest EventResponse Http HttpPools HttpRequest HttpResponse Log OAuth Page PageOf
    Platform Proxies ReencryptResult RetryOptions Revocation Secret TextRules TokenEndpointAuthMethod
    TokenRequestEvent TokenSource Tokens Trouble UnreadableConnection Vault VaultOptions WebhookEvent
    apiCallChannel browserChannel connectionKind contextOf createApi createConnect createDispatcher
    createHttp createHttpPools createOAuth createRecordCipher fieldOf idSchema mask outageOf parseJson
    parseJsonExactly pathTemplates platform publish randomCodeVerifier randomState rateLimited redirectUrls
    requestContext retry sleep splitUrl subscribe textField tokenFailure tokenRequestChannel tokenSchema
    typedChannel webhookChannel`,
  'src/connect/stores.ts': `
    Entry Key KeyValueStore Lease OwnersPage acquireLease allOwners appOwner claim isSentinelUrl keyName
    openRedis openSqlite parseRedisUrl ready scan update withLease`,
  'src/sandbox/api.ts': `
    NOT_AN_OBJECT notFound parseBody`,
  'src/sandbox/faults.ts': `
    API_FAULTS`,
  'src/sandbox/feature.ts': `
    SandboxCore SandboxFeature`,
  'src/sandbox/guard.ts': `
    bxcontextOf`,
  'src/sandbox/odata.ts': `
    sendPage`,
  'src/sandbox/random.ts': `
    DAY_MS NEWEST pick seededRandom`,
  'src/web/feature-api.ts': `
    Feature ListChoice Probe READ_ERRORS choiceOf connectionRef format pageOf pageOfSchema pageQuery pager
    platformPage rejectForm sendPageOrJson sendResultOrRedirect`,
  'test/support/test-utils.ts': `
    CHROMIUM JSON_TYPE Running Visitor connected expectBothFormats openChromium startApp startWalk
    takeSession withChromium`,
}

const SETTINGS = `
  APP_LOGO_URL APP_NAME APP_PRODUCTION_URL APP_STAGING_URL BASE_URL CHECK_CONNECTIONS_EVERY DATA_DIR
  DEMO_ALLOW_REMOTE DRAIN_SECONDS FLOW_INSPECTOR HOST HTTPS_PROXY HTTP_PROXY KEEP_ALIVE_SECONDS
  LIVE_PRICING_CLIENTS LIVE_PRICING_RATE_LIMIT LIVE_PRICING_RATE_WINDOW_SECONDS
  LIVE_PRICING_STAGING_CLIENTS LOG_LEVEL MAX_UPLOAD_MB METRICS_PORT METRICS_TOKEN NODE_ENV NO_PROXY
  OIDC_CLIENT_ID OIDC_CLIENT_SECRET OIDC_ISSUER OIDC_TOKEN_ENDPOINT_AUTH_METHOD PLATFORM_API_EMAIL
  PLATFORM_API_KEY PLATFORM_API_URL PLATFORM_APP_URL PLATFORM_AUTHORIZE_PARAMS PLATFORM_AUTHORIZE_PATH
  PLATFORM_AUTH_URL PLATFORM_CLIENT_ID PLATFORM_CLIENT_SECRET PLATFORM_CONNECTED_APPS_URL PLATFORM_PKCE
  PLATFORM_RATE_LIMIT PLATFORM_RATE_WINDOW_SECONDS PLATFORM_REVOCATION_URL PLATFORM_SCOPES
  PLATFORM_SUBSCRIPTION_KEY PLATFORM_TENANT_ID PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD PLATFORM_WEBHOOK_HEADER
  PLATFORM_WEBHOOK_SECRET PORT REDIS_PLAINTEXT REDIS_URL SANDBOX_PORT SANDBOX_URL SESSION_SECRET
  TOKEN_ENCRYPTION_KEYS TRUST_PROXY UPLOAD_QUOTA_MB UPLOAD_TOTAL_MB`

const CODES = `
  bxcontext_replaced code_rejected conflict connection_revoked consent_denied consent_misconfigured
  consent_unavailable csrf_rejected exchange_incomplete file_unreadable grant_rejected import_failed
  import_unreadable insufficient_scope internal_error invalid_bxcontext invalid_callback invalid_client
  invalid_event invalid_input invalid_request invalid_signature invalid_state invalid_token
  method_not_allowed misconfigured missing_authorization_request no_token not_a_navigation not_connected
  not_found not_saved_yet payload_too_large platform_rejected platform_unavailable record_decryption_failed
  refresh_too_soon request_timeout server_error sign_in_failed sign_in_unavailable stale_event storage_full
  store_unavailable stores_unavailable temporarily_unavailable too_many_requests unauthenticated
  unknown_encoding unsupported_grant_type unsupported_media_type upload_quota_exceeded webhook_disabled`

const newEntries = read('CHANGELOG.md').split('\n## 1.0.0')[0] ?? ''
const named = new Set(all(newEntries, /`([^`]+)`/g).flatMap((code) => all(code, /\w+/g)))

/** The names that neither exist nor are in the changelog. */
const lost = (names: string, existing: string[]) =>
  wordsOf(names).filter((name) => !existing.includes(name) && !named.has(name))

const exportsOf = (file: string) => [
  ...all(read(file), /^export (?:async |declare )?(?:const|function|class|interface|type) (\w+)/gm),
  ...all(read(file), /^export (?:type )?\{([^}]+)\}/gm).flatMap((list) =>
    list.split(',').map((item) => item.trim().split(' ').at(-1) ?? ''),
  ),
]

test.each(Object.entries(EXPORTS))(
  '%s has the exports of 1.0.0, or the changelog names them',
  (file, names) => {
    expect(lost(names, exportsOf(file))).toEqual([])
  },
)

test('the settings of 1.0.0 exist, or the changelog names them', () => {
  const documented = files('docs/{,*/}configuration.md').flatMap((page) => all(read(page), /`([A-Z_]+)`/g))
  expect(lost(SETTINGS, documented)).toEqual([])
})

test('the error codes of 1.0.0 exist, or the changelog names them', () => {
  const explained = files('docs/**/*.md').flatMap((page) =>
    rows(read(page), 'Code').flatMap(([code]) => codeIn(code)),
  )
  expect(lost(CODES, explained)).toEqual([])
})
