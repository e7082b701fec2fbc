/** Suppliers, right and wrong, built from the specification alone. `given` quotes the sentence that a wrong one breaks. */
import { describe, expect, test } from 'vitest'
import {
  checkSupplier,
  isBroken,
  isUnproven,
} from '../../../../src/features/supplier-check/check-supplier.ts'
import type { Subject } from '../../../../src/features/supplier-check/rule.ts'
import { createProbe } from '../../../../src/features/supplier-check/supplier-probe.ts'
import { clientId, clientSecret, defaultOptions, type Supplier, startSupplier } from './supplier.ts'
import { suppliers } from './suppliers.ts'

/** The options of the command as a subject. */
function subjectOf(supplier: Supplier, url: string): Subject {
  const options = supplier.options ?? defaultOptions
  const all = (name: string) =>
    options.flatMap((option, index) => (option === name ? [options[index + 1] ?? ''] : []))
  const [storeId] = all('--store')
  const [memberNumber] = all('--member')
  const [near] = all('--near')
  const [latitude = 0, longitude = 0] = (near ?? '').split(',').map(Number)
  const tokenJson = options.includes('--token-json')
  return {
    probe: createProbe({
      baseUrl: url.replace(/\/+$/, ''),
      clientId,
      clientSecret,
      tokenJson,
      // Five suppliers share this process, and the large ones keep it busy.
      ...(supplier.right && { timeoutMs: 120_000 }),
    }),
    items: all('--item'),
    notInRange: all('--not-in-range').map((pair) => {
      const at = pair.lastIndexOf('@')
      return { itemId: pair.slice(0, at), storeId: pair.slice(at + 1) }
    }),
    // A lifetime that is wrong shows after seconds.
    patienceMs: /expires_in|tokens live|of a token/.test(supplier.name) ? 5_000 : 300,
    ...(storeId !== undefined && { storeId }),
    ...(memberNumber !== undefined && { memberNumber }),
    ...(near !== undefined && { near: { latitude, longitude } }),
  }
}

/** What the command would exit with: 1 if a given rule is broken, 2 if one is not proven. */
async function check(supplier: Supplier): Promise<{ code: number; broken: string[]; reasons: string }> {
  const { url, close } = await startSupplier(supplier)
  const findings = []
  for await (const finding of checkSupplier(subjectOf(supplier, url))) findings.push(finding)
  await close()
  const failed = findings.filter((finding) => isBroken(finding, true))
  const broken = failed.map(({ rule }) => rule.id)
  const reasons = failed.map(({ reason, call }) => `${reason} ${call?.answer}`).join('\n')
  return { code: broken.length > 0 ? 1 : findings.some(isUnproven) ? 2 : 0, broken, reasons }
}

describe('a right supplier', () => {
  test.concurrent.each(suppliers.filter(({ right }) => right))('$name is not blamed', async (supplier) => {
    const { broken, reasons } = await check(supplier)
    expect(broken, reasons).toEqual([])
  })
})

describe('a wrong supplier', () => {
  test.concurrent.each(suppliers.filter(({ right }) => !right))('$name does not pass', async (supplier) => {
    expect((await check(supplier)).code).not.toBe(0)
  })
})
