/** Suppliers that are right by the specification, over HTTP, with what the model of the other tests does not vary. */
import { expect, test } from 'vitest'
import { checkSupplier, isBroken } from '../../../../src/features/supplier-check/check-supplier.ts'
import { createProbe } from '../../../../src/features/supplier-check/supplier-probe.ts'
import { rightSuppliers } from './right.ts'
import { clientId, clientSecret, defaultSubject, startSupplier } from './supplier.ts'

test.concurrent.each(Object.entries(rightSuppliers))('a supplier is not blamed: %s', async (_, supplier) => {
  const { url, close } = await startSupplier(supplier)
  // Five suppliers share this process, and the large ones keep it busy.
  const probe = createProbe({ baseUrl: url, clientId, clientSecret, timeoutMs: 120_000 })
  const subject = { ...defaultSubject, ...supplier.subject, probe, patienceMs: 300 }
  const findings = await Array.fromAsync(checkSupplier(subject))
  await close()
  const blamed = findings.filter((finding) => isBroken(finding, true))
  expect(blamed.map(({ rule, reason, call }) => [rule.id, reason, call?.answer])).toEqual([])
})
