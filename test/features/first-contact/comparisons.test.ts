import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { loadContracts } from '../../../src/features/contracts.ts'
import { errorCodeOf, fieldsOf } from '../../../src/features/first-contact/consent/shape.ts'
import type { Finding } from '../../../src/web/kit.ts'
import { type Consenting, type Script, startConsenting, startConsentingOn } from './consenting.ts'

const isDifferent = ({ status }: Finding) => status === 'failure' || status === 'warning'

describe('after two consents to all permissions of the sandbox', () => {
  let consenting: Consenting
  let findings: Finding[]
  beforeAll(async () => {
    consenting = await startConsenting()
    await consenting.consent()
    await consenting.consent()
    findings = await consenting.check()
  })
  afterAll(() => consenting.close())

  test('everything of the core that they can show is confirmed, and nothing differs', async () => {
    expect(findings.filter(isDifferent)).toEqual([])
    const core = (await loadContracts()).find(({ name }) => name === 'core')?.assumptions ?? []
    const unseen = findings.filter(
      ({ id, status }) => status === 'not seen' && core.some((one) => one.id === id),
    )
    expect(unseen.map(({ id }) => id)).toEqual(['insufficient-scope'])
    expect(findings.filter(({ status }) => status === 'ok').length).toBeGreaterThan(20)
  })

  test('the report has no value that the platform sent, and no secret of the app', () => {
    const text = JSON.stringify(findings)
    const values = consenting.bodies().flatMap(valuesOf)
    expect(values.length).toBeGreaterThan(20)
    expect(values.filter((value) => text.includes(value))).toEqual([])
    for (const secret of consenting.secrets) expect(text).not.toContain(secret)
  })
})

/** Words of the protocol, which a report may have. */
const PUBLIC =
  /^(Bearer|Public|Managed|Completed|leads catalogues|[a-z_]+|integration-connection\.requested)$/

/** All texts and numbers of JSON that could be somebody's: everything but words of the protocol. */
function valuesOf(json: unknown): string[] {
  if (typeof json === 'string') return PUBLIC.test(json) || json.length < 5 ? [] : [json]
  if (typeof json === 'number') return json > 9999 ? [String(json)] : []
  return typeof json === 'object' && json !== null ? Object.values(json).flatMap(valuesOf) : []
}

test('a name of a field that may be a value is not shown', () => {
  const fields = fieldsOf([
    { 'ann@example.com': 1, '0412345678': 2, kept_name: 'x', Ann8472910: true, aB3dEfGhIjKlMnOp: 1 },
  ])
  expect(Object.keys(fields)).toEqual(['(a name that may be a value)', 'kept_name'])
})

test('without --write, the doctor only reads; a consent that was denied is reported, and the next one counts', async () => {
  const consenting = await startConsenting({}, { write: false })
  onTestFinished(consenting.close)
  expect((await consenting.deny()).text).toContain('Consent was denied.')
  const denied = consenting.consents.round.comparisons.findings()
  expect(denied.filter(({ status }) => status === 'failure')).toEqual([])
  await consenting.consent()
  expect(consenting.consents.count).toBe(1)
  expect((await consenting.check()).filter(isDifferent)).toEqual([])
  expect(consenting.writes()).toEqual([])
})

test.each([
  [{ error: 'invalid_code' }, 'invalid_code'],
  [{ error: 'E_TOKEN' }, 'another_code'],
  [{ error: 'abc123def' }, 'another_code'],
  [{ error: 'averyveryveryverylongword' }, 'another_code'],
  [{ error: 17 }, undefined],
  [{}, undefined],
])('of an error %j, the report shows %s', (body, shown) => {
  expect(errorCodeOf(body)).toBe(shown)
})

const RECORDS = [1, 2, 3].map((id) => ({ id, name: `Record ${id}`, town: 'Hobart' }))

/** A platform that does 15 things in another way. Without refresh tokens, it issues none. */
function otherPlatform({ hasRefreshTokens = true } = {}): Script {
  const usedCodes = new Set<string>()
  let issued = 0
  /** The latest refresh token of each grant, by those before it; null once it has ended. */
  const grants = new Map<string, { latest: string | null }>()
  const tokensFor = (grant: { latest: string | null }) => {
    grant.latest = `refresh-${++issued}`
    grants.set(grant.latest, grant)
    return {
      access_token: `access-${issued}`,
      ...(hasRefreshTokens && { refresh_token: grant.latest }),
      expires_in: '1200',
      id_token: 'id',
      business_name: 'Harbour',
      user_name: 'Olivia',
    }
  }
  return {
    bxcontext: 'harbour',
    code: 'code-',
    token(form) {
      const code = form.get('code')
      if (code !== null) {
        if (usedCodes.has(code)) return [400, { error: 'invalid_request' }]
        usedCodes.add(code)
        return [200, tokensFor({ latest: null })]
      }
      const sent = form.get('refresh_token') ?? ''
      const grant = grants.get(sent)
      if (grant && grant.latest === sent) return [200, tokensFor(grant)]
      if (grant) grant.latest = null
      return [401, { error: 'invalid_token' }]
    },
    api({ pathname, searchParams: query }, authorization) {
      const path = pathname.replace('/api', '')
      if (!authorization.startsWith('Bearer access-')) return [401, { error: 'unauthorized' }]
      if (path === '/probe-catalogues') return [403, { error: 'forbidden' }]
      const record = RECORDS.find(({ id }) => path === `/probe/${id}`)
      if (record) return [200, record]
      if (path !== '/probe') return [400, { error: 'bad_request' }]
      const sorted = query.get('$orderby') === 'id desc' ? RECORDS.toReversed() : RECORDS
      const found = query.has('$filter') ? sorted.slice(0, 1) : sorted
      const skip = Number(query.get('$skip'))
      return [200, { value: found.slice(skip, skip + Number(query.get('$top') ?? 25)) }]
    },
  }
}

/** What the doctor finds of such a platform, after two consents. */
async function findingsOf(options: Parameters<typeof otherPlatform>[0]): Promise<Finding[]> {
  const core = (await loadContracts()).filter(({ name }) => name === 'core')
  const { consent, check } = await startConsentingOn(otherPlatform(options), core)
  await consent()
  await consent()
  return check()
}

test('a platform that issues no refresh token must change, with the hint', async () => {
  const finding = (await findingsOf({ hasRefreshTokens: false })).find(({ id }) => id === 'refresh-token')
  expect(finding).toMatchObject({ status: 'failure', setting: 'PLATFORM_SCOPES' })
  expect(finding?.text).toMatch(/: `refresh_token` is absent\. The app does not work\..*`offline_access`/)
})

const DIFFERENT = {
  'expires-in': '1200 seconds, as a string',
  'granted-scopes': '`scope` is absent',
  ids: 'numbers',
  'insufficient-scope': '403, the scope is not named',
  'invalid-access-token': '401, without `WWW-Authenticate`',
  'probe-record': 'further fields: `name` (string), `town` (string)',
  'list-form': 'an object with the list in `value`',
  'list-total': 'no `x-odata-total-count`',
  'not-found': 'GET /probe/{id}: 400',
  'old-refresh-token': 'it is refused after a refresh, and the consent has ended because of it',
  'refresh-rotation': 'a new refresh token',
  'revoked-refresh-token': '401 `invalid_token`',
  'token-fields': '`id_token` (string)',
  'token-type': '`token_type` is absent',
  'used-code': '400 `invalid_request`',
}

test('of a platform with 15 other details, exactly those 15 differ, each with its place in the code', async () => {
  const findings = await findingsOf({})
  const different = findings.filter(isDifferent)
  const texts = Object.entries(DIFFERENT).map(([id, seen]) => [id, expect.stringContaining(seen)])
  expect(Object.fromEntries(different.map(({ id, text }) => [id, text]))).toEqual(Object.fromEntries(texts))
  expect(findings.filter(({ status }) => status === 'not seen')).toEqual([])
  for (const { text } of different) expect(text).toMatch(/`\w+ in (src|test)\/\S+\.ts`\)$/)
  const broken = different.filter(({ status }) => status === 'failure').map(({ id }) => id)
  expect(broken.sort()).toEqual(['list-form', 'not-found'])
})
