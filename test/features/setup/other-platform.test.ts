import { afterEach, describe, expect, test } from 'vitest'
import { platform as contract } from '../../../src/connect/index.ts'
import { loadContracts } from '../../../src/features/contracts.ts'
import { createClient } from '../../../src/features/setup/client.ts'
import { checkRevocation } from '../../../src/features/setup/platform/revocation.ts'
import { SCOPES } from '../../support/flow.ts'
import {
  type OtherPlatform,
  type OtherPlatformOptions,
  startOtherPlatform,
} from '../../support/other-platform.ts'
import { configOf, type Env, expectDiagnosis, findings, problemsOf } from './support.ts'

let platform: OtherPlatform
afterEach(() => platform.close())

async function started(options: OtherPlatformOptions = {}): Promise<Env> {
  platform = await startOtherPlatform(options)
  return platform.env
}

describe('a platform with other choices has no problem with the right settings:', () => {
  const rows: [choice: string, options: OtherPlatformOptions, env: Env][] = [
    ['prefixes, pages as errors, redirects to a login', {}, {}],
    ['PKCE is required', { pkce: 'required' }, {}],
    ['random ids in every answer', { noise: true }, {}],
    [
      'HTTP Basic at the token endpoint',
      { authMethod: 'client_secret_basic' },
      { PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD: 'client_secret_basic' },
    ],
    [
      'an audience',
      { parameter: { name: 'audience', message: 'no' } },
      { PLATFORM_AUTHORIZE_PARAMS: 'audience=https://api.example' },
    ],
  ]
  test.each(rows)('%s', async (_choice, options, env) => {
    expect(problemsOf(await findings({ ...(await started(options)), ...env }))).toEqual([])
  })
})

describe('one wrong setting is one finding, and the value that it names ends it:', () => {
  const basic = 'client_secret_basic'
  const unheardOf = { PLATFORM_SCOPES: [...SCOPES, 'unheard-of'].join(' ') }
  /** The setting is the one that is wrong. */
  test.each<[string, OtherPlatformOptions, Env, id: string]>([
    ['HTTP Basic is refused', {}, { PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD: basic }, 'token.auth-method'],
    ['a scope is unknown', {}, unheardOf, 'consent.scope'],
    ['the client id is unknown', {}, { PLATFORM_CLIENT_ID: 'someone' }, 'consent.client-id'],
    ['the secret is wrong', {}, { PLATFORM_CLIENT_SECRET: 'wrong' }, 'token.client-secret'],
  ])('%s', async (_name, options, wrong, id) => {
    const [setting = ''] = Object.keys(wrong)
    // Random ids in every answer prove nothing.
    await expectDiagnosis(await started({ ...options, noise: true }), wrong, id, setting)
  })

  test('HTTP Basic is required', async () => {
    const right = await started({ authMethod: basic })
    await expectDiagnosis(right, {}, 'token.auth-method', 'PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD')
  })

  test.each([
    ['PLATFORM_APP_URL', '/portal/web', 'start-page.not-found'],
    ['PLATFORM_AUTH_URL', '/idp/v2', 'token.not-found'],
    ['PLATFORM_API_URL', '/gateway/api/v1', 'api.not-found'],
  ])('%s without its path', async (setting, path, id) => {
    const right = await started()
    await expectDiagnosis(right, { [setting]: (right[setting] ?? '').replace(path, '') }, id, setting)
  })

  test('the redirect urls are not registered', async () => {
    const found = problemsOf(await findings({ ...(await started()), BASE_URL: 'http://localhost:3999' }))
    expect(found.map(({ id }) => id)).toEqual(['start-page.redirect-url', 'consent.redirect-uri'])
    expect(found.map(({ text }) => text)).toEqual([
      expect.stringContaining('http://localhost:3999/connect/context'),
      expect.stringContaining('http://localhost:3999/connect/callback'),
    ])
  })
})

describe('what cannot be proven is a warning that says so:', () => {
  test.each<[string, OtherPlatformOptions, ...ids: string[]]>([
    ['a token endpoint that looks at the code first', { codeFirst: true }, 'token.not-proven'],
    ['a token endpoint with errors of its own', { ownErrors: true }, 'token.rejected'],
    [
      'a token endpoint that answers every secret with an invalid request',
      { codeFirst: true, codeError: 'invalid_request' },
      'token.rejected',
    ],
    [
      'a token endpoint that checks the form of a code first',
      { codeError: 'invalid_request' },
      'token.rejected',
    ],
    ['a web application that answers every address', { singlePage: true }, 'start-page.not-proven'],
    ['a login before everything else', { loginFirst: true }, 'start-page.not-proven', 'consent.not-proven'],
    ['an API whose gateway answers every address', { gateway: true }, 'api.not-proven'],
  ])('%s', async (_name, options, ...ids) => {
    const problems = problemsOf(await findings(await started(options)))
    expect(problems).toMatchObject(ids.map((id) => ({ id, status: 'warning' })))
  })
})

test('PKCE that is off is a warning', async () => {
  const right = await started({ pkce: 'refused' })
  expect(problemsOf(await findings(right))).toMatchObject([{ id: 'pkce.off', status: 'warning' }])
})

test('what a page refuses without the name of an error is quoted, with the settings to compare', async () => {
  const right = await started({ pkce: 'refused' })
  const [problem, ...others] = problemsOf(await findings({ ...right, PLATFORM_PKCE: 'true' }))
  expect(others).toEqual([])
  expect(problem).toMatchObject({ id: 'consent.rejected' })
  for (const part of ['Unexpected parameters', 'PLATFORM_PKCE']) expect(problem?.text).toContain(part)
})

describe('a refusal in JSON is quoted, and its address is not called missing:', () => {
  test.each([400, 404])('the start page (%i)', async (status) => {
    const start = 'redirectUrl is not registered'
    const found = problemsOf(await findings(await started({ refuses: { start, status } })))
    expect(found).toMatchObject([{ id: 'start-page.redirect-url', setting: 'BASE_URL' }])
    expect(found[0]?.text).toContain(start)
  })

  // The same answer at every address below the authorization server, as from one that checks parameters first.
  test.each([
    ['The redirect_uri is not registered for this client', 400],
    ['no such client_id', 404],
  ])('the consent page: %s (%i)', async (consent, status) => {
    const [problem, ...others] = problemsOf(await findings(await started({ refuses: { consent, status } })))
    expect(problem).toMatchObject({ id: 'consent.rejected', status: 'failure' })
    expect(problem?.text).toContain(consent)
    expect(others).toEqual([])
  })
})

test('where a redirect from the path of the token endpoint leads is told, with the line to change', async () => {
  const [problem] = problemsOf(await findings(await started({ tokenRedirect: true, tokenPath: '/o/token/' })))
  expect(problem?.text).toContain(`a redirect to ${platform.url}/idp/v2/o/token/`)
  expect(problem?.text).toContain('`tokenPath` in src/connect/platform/contract.ts')
})

test('a start page that returns the browser at once asks for no login, and the finding does not say so', async () => {
  const found = await findings(await started({ straightBack: true }))
  const [page] = found.filter(({ id }) => id.startsWith('start-page'))
  expect(page?.text).toContain('a redirect to http://localhost:3100/connect/context')
  expect(page?.text).not.toContain('asks for a login')
})

test('PLATFORM_REVOCATION_URL is proven by the metadata only; a page, another endpoint and an outage are told apart', async () => {
  const { baseUrl, platform: settings } = configOf(await started())
  const client = createClient(settings)
  const target = { ...settings, platform: contract, baseUrl, client }
  const foundAt = async (path: string) => {
    const found = await checkRevocation({ ...target, revocationUrl: platform.url + path }, undefined)
    return [path, found?.id, found?.status]
  }
  const expected = [
    ['/idp/v2/oauth/revoke', 'revocation.not-proven', 'warning'],
    ['/idp/v2/nothing', 'revocation.not-found', 'failure'],
    ['/revoke/empty-page', 'revocation.not-proven', 'warning'],
    ['/revoke/client', 'revocation.not-proven', 'warning'],
    ['/revoke/type', 'revocation.not-proven', 'warning'],
    ['/revoke/down', 'revocation.unavailable', 'warning'],
  ]
  expect(await Promise.all(expected.map(([path = '']) => foundAt(path)))).toEqual(expected)
  await client.close()
})

describe('an outage is a warning, whatever it looks like:', () => {
  test.each([
    ['/portal/web', 503, 'start-page.unavailable'],
    ['/idp/v2/connect', 502, 'consent.unavailable'],
    ['/idp/v2/oauth', 429, 'token.unavailable'],
    ['/gateway', 500, 'api.unavailable'],
  ])('%s answers %i', async (path, status, id) => {
    const found = problemsOf(await findings(await started({ outage: { path, status } })))
    expect(found).toMatchObject([{ id, status: 'warning' }])
  })
})

const SECRET = 'S3cr/et+with space&"q<'
test('a secret that the platform repeats is not shown', async () => {
  const right = await started({ echo: (secret) => secret, ownErrors: true })
  const found = await findings({ ...right, PLATFORM_CLIENT_SECRET: SECRET })
  expect(problemsOf(found)).toHaveLength(1)
  expect(found.some(({ text }) => text.includes(SECRET))).toBe(false)
})

test('a scope that a feature needs and that is not asked for is a warning', async () => {
  const right = await started({ scopes: ['prices:read'] })
  const needed = (await loadContracts()).flatMap(({ scopes }) => Object.keys(scopes))
  const found = problemsOf(await findings({ ...right, PLATFORM_SCOPES: 'prices:read' }))
  expect(found.map(({ id, status }) => [id, status])).toEqual(
    needed.length > 0 ? [['scopes', 'warning']] : [],
  )
  for (const scope of needed) expect(found[0]?.value?.split(' ')).toContain(scope)
})

test('a consent page that refuses for a reason of its own is quoted', async () => {
  const parameter = { name: 'org', message: 'Come back on Monday' }
  const [problem] = problemsOf(await findings(await started({ parameter })))
  expect(problem).toMatchObject({ id: 'consent.rejected' })
  expect(problem?.text).toContain('Come back on Monday')
  expect(problem?.text).toContain('PLATFORM_AUTHORIZE_PARAMS')
})

test.each([-90_000, 90_000])('a clock that differs by %i ms is a warning', async (clockMs) => {
  const found = problemsOf(await findings(await started({ clockMs })))
  expect(found).toMatchObject([{ id: 'clock', status: 'warning' }])
  expect(found[0]?.text).toContain(clockMs < 0 ? 'ahead of' : 'behind')
})
