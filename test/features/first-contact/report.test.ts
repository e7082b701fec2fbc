import { expect, test } from 'vitest'
import { fieldsOf } from '../../../src/features/first-contact/consent/shape.ts'
import { startConsenting } from './consenting.ts'

/** Words of the protocol, which a report may have. */
const PUBLIC =
  /^(Bearer|Public|Managed|Completed|leads catalogues|[a-z_]+|integration-connection\.requested)$/

/** All texts and numbers of JSON that could be somebody's: everything but words of the protocol. */
function valuesOf(json: unknown): string[] {
  if (typeof json === 'string') return PUBLIC.test(json) || json.length < 5 ? [] : [json]
  if (typeof json === 'number') return json > 9999 ? [String(json)] : []
  return typeof json === 'object' && json !== null ? Object.values(json).flatMap(valuesOf) : []
}

test('a report has no value that the platform sent, and no secret of the app', async () => {
  const consenting = await startConsenting()
  await consenting.consent()
  await consenting.consent()
  const findings = await consenting.check()
  const report = {
    checkedAt: '2026-01-01T00:00:00.000Z',
    platform: { appUrl: consenting.platform, authUrl: consenting.platform, apiUrl: consenting.platform },
    write: true,
    findings,
  }
  const text = JSON.stringify(report)
  const values = consenting.bodies().flatMap(valuesOf)
  expect(values.length).toBeGreaterThan(20)
  expect(values.filter((value) => text.includes(value))).toEqual([])
  for (const secret of consenting.secrets) expect(text).not.toContain(secret)
  await consenting.close()
})

test('a name of a field that may be a value is not shown', () => {
  const fields = fieldsOf([{ 'ann@example.com': 1, '0412345678': 2, kept_name: 'x', Ann8472910: true }])
  expect(Object.keys(fields)).toEqual(['(a name that may be a value)', 'kept_name'])
})

test('without --write, the doctor only reads', async () => {
  const consenting = await startConsenting({}, { write: false })
  await consenting.consent()
  const findings = await consenting.check()
  expect(consenting.writes()).toEqual([])
  expect(findings.filter(({ status }) => status === 'failure' || status === 'warning')).toEqual([])
  await consenting.close()
})

test('a consent that was denied is reported, and the check can start again', async () => {
  const consenting = await startConsenting()
  const page = await consenting.deny()
  expect(page.text).toContain('Consent was denied.')
  expect(
    consenting.consents.round.comparisons.findings().filter(({ status }) => status === 'failure'),
  ).toEqual([])
  await consenting.consent()
  expect(consenting.consents.count).toBe(1)
  await consenting.close()
})
