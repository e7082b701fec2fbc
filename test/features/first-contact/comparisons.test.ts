import { expect, test } from 'vitest'
import { recordingOf } from '../../../src/features/first-contact/consent/recording.ts'
import { errorCodeOf } from '../../../src/features/first-contact/consent/shape.ts'
import type { Finding } from '../../../src/features/tools.ts'
import { type Recorded, recordedSchema } from '../../../src/sandbox/recorded.ts'
import { startConsenting } from './consenting.ts'

const isDifferent = ({ status }: Finding) => status === 'failure' || status === 'warning'

const SECONDS = 30_000

test(
  'against the sandbox, everything that a consent can show is confirmed',
  async () => {
    const consenting = await startConsenting()
    await consenting.consent()
    await consenting.consent()
    await consenting.webhook()
    const findings = await consenting.check()
    expect(findings.filter((finding) => isDifferent(finding) || finding.status === 'not seen')).toEqual([])
    expect(findings.filter(({ status }) => status === 'ok').length).toBeGreaterThan(20)
    await consenting.close()
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
    const consenting = await startConsenting({ recorded: { ...VARIANT, token } })
    await consenting.consent()
    const findings = await consenting.check()
    const finding = findings.find(({ id }) => id === 'refresh-token')
    expect(finding).toMatchObject({ status: 'failure', setting: 'PLATFORM_SCOPES' })
    expect(finding?.text).toMatch(/: it is absent\. The app does not work\..*`offline_access`/)
    await consenting.close()
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
  'not-found': 'GET /probe/{id}: 400',
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
    const consenting = await startConsenting({ recorded: VARIANT })
    await consenting.consent()
    await consenting.consent()
    await consenting.webhook()
    const findings = await consenting.check()
    const different = findings.filter(isDifferent)
    const texts = Object.entries(DIFFERENT).map(([id, seen]) => [id, expect.stringContaining(seen)])
    expect(Object.fromEntries(different.map(({ id, text }) => [id, text]))).toEqual(Object.fromEntries(texts))
    expect(findings.filter(({ status }) => status === 'not seen')).toEqual([])
    for (const { text } of different) expect(text).toMatch(/`(src|test)\/\S+\.ts:\d+`\)$/)
    const broken = different.filter(({ status }) => status === 'failure').map(({ id }) => id)
    expect(broken.sort()).toEqual(['list-form', 'not-found'])
    await consenting.close()
  },
  SECONDS,
)

test(
  'a recording of the variant is the variant, and a sandbox that answers like it is recorded alike',
  async () => {
    const consenting = await startConsenting({ recorded: VARIANT })
    await consenting.consent()
    await consenting.check()
    const recording = recordingOf(consenting.consents.round.answers)
    await consenting.close()
    const { records, ...rest } = recordedSchema.parse(recording)
    const { records: recorded, ...others } = VARIANT
    expect(rest).toEqual(others)
    expect(records).toMatchObject(recorded)

    const again = await startConsenting({ recorded: recordedSchema.parse(recording) })
    await again.consent()
    await again.check()
    expect(recordingOf(again.consents.round.answers)).toEqual(recording)
    await again.close()
  },
  SECONDS,
)
