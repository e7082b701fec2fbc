import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RULES } from '../../../src/features/live-pricing/check/rules.ts'
import { run } from '../../support/process.ts'
import { CALLER, SAMPLE, type Supplier, startSupplier } from './support.ts'
import { startWrongSupplier } from './wrong-suppliers.ts'
import { WRONG } from './wrong-ways.ts'

let supplier: Supplier
beforeAll(async () => {
  supplier = await startSupplier(SAMPLE)
})
afterAll(() => supplier.close())

async function ran(...args: string[]) {
  const program = run('src/features/live-pricing/cli-check-supplier.ts', {}, { args })
  return { code: await program.exited, output: program.output() }
}
const check = (url: string, ...more: string[]) =>
  ran(url, '--client-id', CALLER.id, '--client-secret', CALLER.secret, ...more)

describe('npm run check-supplier', () => {
  test('prints every rule with its call, and exits 0 if all rules pass', async () => {
    const { code, output } = await check(supplier.url, '--item', 'FT-1001', '--verbose')
    expect(code, output).toBe(0)
    for (const { id } of RULES)
      expect(output).toMatch(new RegExp(`^pass  ${id.replaceAll('.', '\\.')} `, 'm'))
    expect(output).toContain(`${RULES.length} rules passed, 0 failed, 0 could not be checked.`)
    expect(output).toMatch(/> POST \/request-prices\n\s+> \{"items":/)
    expect(output).not.toContain(CALLER.secret)
  })

  test('names the failed rule, shows its request and response, and exits 1', async () => {
    const wrong = await startWrongSupplier(supplier.url, WRONG['store.unknown']?.[0]?.[1] ?? (() => {}))
    const { code, output } = await check(wrong.url)
    expect(code).toBe(1)
    expect(output).toMatch(
      /^FAIL {2}store\.unknown .*\n.*must return 404, not 200\.\n\s+> GET \/stores\/[\w-]+\n\s+< 200 null/m,
    )
    await wrong.close()
  })

  test('prints the results as JSON', async () => {
    const { code, output } = await check(supplier.url, '--json')
    expect(code).toBe(0)
    expect(JSON.parse(output).map(({ rule }: { rule: string }) => rule)).toEqual(RULES.map(({ id }) => id))
  })

  test('accepts a location with a negative latitude', async () => {
    expect(await check(supplier.url, '--near', '-37.81,144.96')).toMatchObject({ code: 0 })
  })

  test('explains itself with --help', async () => {
    const { code, output } = await ran('--help')
    expect(code).toBe(0)
    expect(output).toMatch(/^Usage: npm run check-supplier --/)
  })

  test.each([
    ['where nobody answers', ['http://localhost:1/base'], /bad port/],
    ['that is not a URL', ['nowhere'], /'nowhere' is invalid[\s\S]*http or https URL[\s\S]*Usage/],
    ['with an invalid location', ['http://localhost:1', '--near', 'Sydney'], /LATITUDE,LONGITUDE/],
  ])('fails for an address %s', async (_name, [url = '', ...more], words) => {
    expect(await check(url, ...more)).toMatchObject({ code: 1, output: expect.stringMatching(words) })
  })

  test('fails without an address', async () => {
    const { code, output } = await ran('--client-id', 'x', '--client-secret', 'y')
    expect(code).toBe(1)
    expect(output).toContain("missing required argument 'base-url'")
  })
})
