/** What `contract.ts` assumes, for docs/assumptions.md and whatever asks or checks whether it is so. */

/** Something that the specification does not show, and what we assume in its place. */
export interface Assumption {
  /** Stable, for references: `consent-url`. */
  id: string
  /** What is not shown. */
  topic: string
  assumed: string
  /** The setting that changes it without a change to the code. */
  setting?: string
  /** 1: nothing works if it is wrong. 2: something does not work. 3: something is missing or less convenient. */
  importance: 1 | 2 | 3
  /** What to change if it is wrong: a name in `contract.ts`, or `FILE#NAME` for another file. */
  code: string
  /** What to do if it is wrong, at that place. */
  cure: string
  /** How to find out, where a program cannot. */
  otherwise?: string
}

export const ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'consent-url',
    topic: 'The consent URL',
    assumed:
      '`{auth_url}/authorize` with `response_type=code`, `client_id`, `redirect_uri`, `scope` (space separated), `state`, `bxcontext` and PKCE S256.',
    setting: '`PLATFORM_AUTHORIZE_PATH`, `PLATFORM_PKCE`, `PLATFORM_AUTHORIZE_PARAMS`',
    importance: 1,
    code: 'oauth.ts#createOAuth',
    cure: 'Set the settings. The error of the consent page says which of them it refuses.',
  },
  {
    id: 'token-request',
    topic: 'The body of the token request',
    assumed:
      'Form-encoded: `grant_type`, `client_id`, `client_secret` and `bxcontext` on exchange and refresh alike; `redirect_uri` and `code_verifier` on exchange.',
    setting: '`PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD`, `PLATFORM_PKCE`',
    importance: 1,
    code: 'oauth.ts#createOAuth',
    cure: 'Set the settings, or change the parameters that `exchangeCode` and `refresh` send.',
  },
  {
    id: 'api-address',
    topic: "The base address of the API's paths, and how a call carries the token",
    assumed: '`{base_url}`, without a further prefix; `Authorization: Bearer`.',
    setting: '`PLATFORM_API_URL`',
    importance: 1,
    code: 'api.ts#send',
    cure: 'Set `PLATFORM_API_URL` with its prefix. If calls carry the token in another way, change the header there.',
  },
  {
    id: 'revoked-refresh-token',
    topic: 'What the token endpoint answers to a refresh token that was revoked',
    assumed:
      '`invalid_grant`, with any 4xx. Any other 4xx but `invalid_client` ends access only if the API answers `401` as well, or if it comes again at least 30 s later, after the expiry of the access token. 408, 425, 429, `temporarily_unavailable`, `server_error`, `slow_down` and the page of a firewall (403 with HTML) are outages.',
    importance: 1,
    code: 'token-answer.ts#tokenFailure',
    cure: 'Nothing, if it is another 4xx; to notice revocations sooner, have `tokenFailure` return an `InvalidGrantError` for this answer.',
  },
  {
    id: 'refresh-token',
    topic: 'Whether every consent brings a refresh token',
    assumed: 'It does. Without one, a connection ends when its access token expires.',
    setting: '`PLATFORM_SCOPES`, `PLATFORM_AUTHORIZE_PARAMS`',
    importance: 1,
    code: 'tokenResponseSchema',
    cure: 'Add `offline_access` to `PLATFORM_SCOPES`: OpenID providers issue a refresh token only for this scope, and some only with `PLATFORM_AUTHORIZE_PARAMS=prompt=consent`. Otherwise ask the support team how to get one.',
  },
  {
    id: 'refresh-rotation',
    topic: 'Whether a refresh returns a new refresh token',
    assumed: 'It returns none, or the same. A new one is stored as well.',
    importance: 1,
    code: 'token-answer.ts#readTokens',
    cure: 'Nothing: a new refresh token replaces the old one. Do not run two apps with a copy of the same store.',
  },
  {
    id: 'old-refresh-token',
    topic: 'Whether a refresh token can be used again',
    assumed: 'It can, for each refresh until access is revoked (specification 5.3.6).',
    importance: 1,
    code: 'token-answer.ts#readTokens',
    cure: 'Nothing, if each refresh returns a new one. Otherwise users must connect again at each expiry: ask the support team for longer tokens.',
  },
  {
    id: 'invalid-access-token',
    topic: 'What the API answers to an access token that is not valid',
    assumed: '`401`, with `WWW-Authenticate: Bearer`.',
    importance: 1,
    code: 'api.ts#request',
    cure: 'Nothing, if the status is `401`. Otherwise have `request` refresh the token at this status.',
  },
  {
    id: 'list-form',
    topic: 'The form of a list',
    assumed: 'A JSON array.',
    importance: 1,
    code: 'api.ts#createApi',
    cure: 'Take the records out of the object in `list`, before the schema of the call reads them.',
  },
  {
    id: 'ids',
    topic: 'Ids',
    assumed:
      'Strings without a slash, a backslash or two dots in a row; otherwise opaque. Numbers are accepted.',
    importance: 1,
    code: 'idSchema',
    cure: 'Nothing, if ids are numbers. An id with `/` needs its own encoding in the `PATHS` of the contracts.',
  },
  {
    id: 'bxcontext',
    topic: 'The form of a bxcontext',
    assumed: '1 to 512 characters of text.',
    importance: 1,
    code: 'bxcontextSchema',
    cure: 'Change the limits of the schema.',
  },
  {
    id: 'issuer',
    topic: 'The issuer',
    assumed:
      '`PLATFORM_AUTH_URL`, with or without a trailing slash; checked when the callback carries `iss`.',
    importance: 2,
    code: 'oauth.ts#codeOf',
    cure: 'Set `PLATFORM_AUTH_URL` to the issuer, or compare `iss` with the issuer there.',
  },
  {
    id: 'expires-in',
    topic: 'The form of `expires_in`',
    assumed:
      'A number of seconds. It may be a string; if it is absent or anything else, we assume five minutes, and without a refresh token the access token is used until the API rejects it three times, a minute apart.',
    importance: 2,
    code: 'tokenResponseSchema',
    cure: 'Nothing, if the app works. Otherwise change the schema, and convert the value to seconds.',
  },
  {
    id: 'granted-scopes',
    topic: 'How the token response names the granted scopes',
    assumed: 'In `scope`, separated by spaces. It may be absent; anything but text counts as absent.',
    importance: 2,
    code: 'tokenResponseSchema',
    cure: 'Nothing, if `scope` is absent: the app then learns of a missing permission when a call is refused. Otherwise read it in `readTokens`.',
  },
  {
    id: 'token-format',
    topic: 'The form of a token',
    assumed: '1 to 16,384 visible ASCII characters; a refresh token may have spaces as well.',
    importance: 2,
    code: 'tokenSchema',
    cure: 'Change the pattern of the schema.',
  },
  {
    id: 'used-code',
    topic: 'What the token endpoint answers to a code that was used before',
    assumed: '`invalid_grant`, with any 4xx.',
    importance: 2,
    code: 'token-answer.ts#tokenFailure',
    cure: 'Nothing, if it is another 4xx. Otherwise have `tokenFailure` return an `InvalidGrantError` for this answer, so that users see "start again" and not an outage.',
  },
  {
    id: 'second-consent',
    topic: 'What a second consent for the same business by the same login does to the first',
    assumed:
      'Nothing: both grants stay valid, so that two users of this app may share a login on the platform.',
    importance: 2,
    code: '../vault/connection.ts#granted',
    cure: 'Tell users that connecting again, or another user who connects the same login, ends the first connection.',
  },
  {
    id: 'insufficient-scope',
    topic: 'What the API answers if a scope is missing',
    assumed: '`403`; `WWW-Authenticate` names the scope.',
    importance: 2,
    code: 'api.ts#missingScope',
    cure: 'Nothing, if the status is `403`: the page then names the permission that the call needs. Otherwise have `request` treat this status like `403`.',
  },
  {
    id: 'not-found',
    topic: 'What the API answers if there is no such record',
    assumed: '`404`.',
    importance: 2,
    code: 'api.ts#parseResponse',
    cure: 'Have `parseResponse` treat this status as not found.',
  },
  {
    id: 'list-page',
    topic: 'How to read a part of a list',
    assumed: 'OData `$top` (up to 100) and `$skip`. A page may have fewer entries than `$top`.',
    importance: 2,
    code: 'contract.ts#paging',
    cure: 'Change `paging` to the names that the platform uses; other styles, such as a cursor, need a change of `list` in `api.ts`.',
  },
  {
    id: 'rate-limit',
    topic: 'The rate limit',
    assumed: '`429` with `Retry-After`, in seconds or as a date.',
    importance: 2,
    code: 'api.ts#withRetry',
    cure: 'Nothing, if the status is `429`: without `Retry-After`, the pauses of retries grow. Otherwise treat the status like `429` there and in `parseResponse`.',
    otherwise: "Ask the platform's support team: only a program that exhausts the limit would see it.",
  },
  {
    id: 'rate-limit-headers',
    topic: 'Whether responses report the remaining quota of the rate limit',
    assumed: 'They do not: no header with `ratelimit` in its name.',
    importance: 3,
    code: 'api.ts#withRetry',
    cure: 'Nothing: the app obeys `429` and `Retry-After`.',
  },
  {
    id: 'list-order',
    topic: 'How to sort a list',
    assumed: 'OData `$orderby`, such as `createdAt desc`.',
    importance: 3,
    code: 'contract.ts#paging',
    cure: 'Change `paging`, or leave out `orderBy` where lists are read.',
  },
  {
    id: 'list-filter',
    topic: 'How to filter a list',
    assumed: "OData `$filter`, such as `contains(name,'ann') and status eq 'New'`.",
    importance: 3,
    code: 'contract.ts#paging',
    cure: 'Change `paging`, or leave out `filter` where lists are read.',
    otherwise: 'Read a list with a filter, and compare.',
  },
  {
    id: 'list-total',
    topic: 'How a list reports its total',
    assumed: 'In the header `x-odata-total-count`, when `$count=true`.',
    importance: 3,
    code: 'totalHeader',
    cure: 'Change `totalHeader`. Without a total, pages show no number of records.',
  },
  {
    id: 'token-type',
    topic: 'The `token_type` of the token response',
    assumed: '`Bearer`. It may be absent.',
    importance: 3,
    code: 'tokenResponseSchema',
    cure: 'Nothing, if it is absent. A type other than `Bearer` needs a change of how `api.ts` sends the token.',
  },
  {
    id: 'token-fields',
    topic: 'Further fields of the token response',
    assumed: 'None that this app needs; they are ignored.',
    importance: 3,
    code: 'tokenResponseSchema',
    cure: 'Nothing. Add a field to the schema if the app should use it.',
  },
  {
    id: 'names',
    topic: 'The names of the business and the person',
    assumed:
      'The token response has the text fields `business_name` and `user_name`, of at most 200 characters and without control characters. They may be absent; any other value is ignored.',
    importance: 3,
    code: 'nameSchema',
    cure: 'Change the names of the fields there and in `readTokens`. Without them, pages show the bxcontext.',
  },
  {
    id: 'token-endpoint-time',
    topic: 'How long the token endpoint may take',
    assumed: 'Up to 30 seconds.',
    importance: 3,
    code: 'tokenEndpointMs',
    cure: 'Raise the limit.',
  },
]
