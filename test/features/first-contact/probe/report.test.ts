import { expect, test } from 'vitest'
import { toMarkdown } from '../../../../src/features/first-contact/probe/report.ts'
import { fieldsOf } from '../../../../src/features/first-contact/probe/shape.ts'
import { startProbe } from './support.ts'

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
  const probing = await startProbe()
  await probing.consent()
  await probing.consent()
  await probing.webhook()
  const results = await probing.check()
  const report = {
    probedAt: '2026-01-01T00:00:00.000Z',
    platform: { appUrl: probing.platform, authUrl: probing.platform, apiUrl: probing.platform },
    write: true,
    results,
    recording: probing.run.recording(),
  }
  const text = JSON.stringify(report) + toMarkdown(report)
  const values = probing.bodies().flatMap(valuesOf)
  expect(values.length).toBeGreaterThan(20)
  expect(values.filter((value) => text.includes(value))).toEqual([])
  for (const secret of probing.secrets) expect(text).not.toContain(secret)
  await probing.close()
})

test('a name of a field that may be a value is not shown', () => {
  const fields = fieldsOf([{ 'ann@example.com': 1, '0412345678': 2, kept_name: 'x', Ann8472910: true }])
  expect(Object.keys(fields)).toEqual(['(a name that may be a value)', 'kept_name'])
})

test('without --write the probe only reads', async () => {
  const probing = await startProbe({}, { write: false })
  await probing.consent()
  const results = await probing.check()
  expect(probing.writes()).toEqual([])
  expect(results.filter(({ status }) => status === 'different')).toEqual([])
  await probing.close()
})

test('a consent that was denied is reported, and the probe can start again', async () => {
  const probing = await startProbe()
  const page = await probing.deny()
  expect(page.text).toContain('Consent was denied.')
  expect(probing.run.results().filter(({ status }) => status === 'different')).toEqual([])
  await probing.consent()
  expect(probing.run.consents).toBe(1)
  await probing.close()
})
