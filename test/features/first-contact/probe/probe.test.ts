import { expect, test } from 'vitest'
import type { Result } from '../../../../src/features/first-contact/probe/results.ts'
import { errorCodeOf } from '../../../../src/features/first-contact/probe/shape.ts'
import { type Recorded, recordedSchema } from '../../../../src/sandbox/recorded.ts'
import { startProbe } from './support.ts'

/** The ids of the assumptions with this status. */
const idsOf = (results: Result[], status: Result['status']) =>
  results
    .filter((result) => result.status === status)
    .map(({ id }) => id)
    .sort()

const SECONDS = 30_000

test(
  'against the sandbox, everything that a probe can see is confirmed',
  async () => {
    const probing = await startProbe()
    await probing.consent()
    await probing.consent()
    await probing.webhook()
    const results = await probing.check()
    expect(results.filter(({ status }) => status === 'different' || status === 'not seen')).toEqual([])
    expect(idsOf(results, 'confirmed').length).toBeGreaterThan(20)
    await probing.close()
  },
  SECONDS,
)

test(
  'a platform that issues no refresh token must change, with the hint',
  async () => {
    const token = {
      fields: { access_token: 'string', expires_in: 'number', scope: 'string' },
      expiresIn: 1200,
    }
    const probing = await startProbe({ recorded: { ...VARIANT, token } })
    await probing.consent()
    const results = await probing.check()
    expect(results.find(({ id }) => id === 'refresh-token')).toMatchObject({
      status: 'different',
      copes: false,
      seen: 'it is absent',
      cure: expect.stringContaining('`offline_access`'),
    })
    await probing.close()
  },
  SECONDS,
)

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

/** A platform that differs from the sandbox in 15 details. */
const VARIANT: Recorded = {
  token: {
    fields: {
      access_token: 'string',
      refresh_token: 'string',
      expires_in: 'string',
      id_token: 'string',
      business_name: 'string',
      user_name: 'string',
    },
    expiresIn: 1200,
  },
  refresh: { refreshToken: 'new' },
  oldRefreshToken: 'refused',
  usedCode: { status: 400, error: 'invalid_request' },
  revokedRefreshToken: { status: 401, error: 'invalid_token' },
  invalidToken: { status: 401, error: 'unauthorized' },
  missingScope: { status: 403, error: 'forbidden' },
  notFound: { status: 400, error: 'bad_request' },
  listWrapper: 'value',
  listTotal: false,
  records: { '/probe': { id: 'number', town: 'string' } },
}

const DIFFERENT = {
  'expires-in': '1200 seconds, as a string',
  'granted-scopes': 'absent',
  ids: 'numbers',
  'insufficient-scope': '403, the scope is not named',
  'invalid-access-token': '401, without `WWW-Authenticate`',
  'probe-record': 'further fields: `town` (string)',
  'list-form': 'an object with the list in `value`',
  'list-total': 'no `x-odata-total-count`',
  'not-found': expect.stringContaining('GET /probe/{id}: 400'),
  'old-refresh-token': 'it is refused after a refresh, and the consent has ended because of it',
  'refresh-rotation': 'a new refresh token',
  'revoked-refresh-token': '401 `invalid_token`',
  'token-fields': '`id_token` (string)',
  'token-type': 'absent',
  'used-code': '400 `invalid_request`',
}

test(
  'against a variant with 15 other details, exactly those 15 differ, each with its place in the code',
  async () => {
    const probing = await startProbe({ recorded: VARIANT })
    await probing.consent()
    await probing.consent()
    await probing.webhook()
    const results = await probing.check()
    const different = results.filter(({ status }) => status === 'different')
    expect(Object.fromEntries(different.map(({ id, seen }) => [id, seen]))).toEqual(DIFFERENT)
    expect(results.filter(({ status }) => status === 'not seen')).toEqual([])
    for (const { change } of different) expect(change).toMatch(/^(src|test)\/\S+\.ts:\d+$/)
    const broken = different.filter(({ copes }) => !copes).map(({ id }) => id)
    expect(broken.sort()).toEqual(['list-form', 'not-found'])
    await probing.close()
  },
  SECONDS,
)

test(
  'a recording of the variant is the variant, and a sandbox that answers like it is recorded alike',
  async () => {
    const probing = await startProbe({ recorded: VARIANT })
    await probing.consent()
    await probing.check()
    const recording = probing.run.recording()
    await probing.close()
    const { records, ...rest } = recordedSchema.parse(recording)
    const { records: recorded, ...others } = VARIANT
    expect(rest).toEqual(others)
    expect(records).toMatchObject(recorded)

    const again = await startProbe({ recorded: recordedSchema.parse(recording) })
    await again.consent()
    await again.check()
    expect(again.run.recording()).toEqual(recording)
    await again.close()
  },
  SECONDS,
)
