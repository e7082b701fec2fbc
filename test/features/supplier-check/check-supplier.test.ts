import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RULES } from '../../../src/features/supplier-check/rules.ts'
import { tempDir } from '../../support/env.ts'
import { serve } from '../../support/ports.ts'
import { command } from '../../support/process.ts'
import { CLIENT, startModelSupplier, type Tamper } from './model-supplier.ts'
import { eachPriced, fields, isToken, refusing, rounded, status, together } from './tampers.ts'
import { elementsOf, parseXml } from './well-formed.ts'

const { dir, remove } = tempDir()
const running: (() => Promise<void>)[] = []
let right: string
beforeAll(async () => {
  right = await started()
})
afterAll(async () => {
  for (const close of running) await close()
  remove()
})

/** A supplier whose tokens live so shortly that the program does not wait for long, and longer than a busy machine needs for a call. */
async function started(tamper: Tamper = () => {}): Promise<string> {
  const short = fields(isToken, { expires_in: 3 })
  const expired = refusing(({ ageMs }) => ageMs > 3200, 401)
  const { url, close } = await startModelSupplier(together(short, expired, tamper))
  running.push(close)
  return url
}

const ran = (...args: string[]) => command('src/features/supplier-check/cli-run.ts', {}, { args })
const check = (url: string, ...more: string[]) =>
  ran(url, '--client-id', CLIENT.id, '--client-secret', CLIENT.secret, ...more)
const DATA = ['--item', 'FT-1', '--item', 'DK-2', '--member', 'CUST1', '--not-in-range', 'ONLY-1@suva']

const negative = eachPriced(({ discount, totalPrice }) => ({
  discount: discount - 0.5,
  totalPrice: rounded(totalPrice + 0.5),
}))

describe.concurrent('npm run feature -- supplier-check run', () => {
  test('prints every rule with its basis and call, and exits with 0 if all rules pass', async () => {
    const { code, output } = await check(right, ...DATA, '--verbose')
    expect(code, output).toBe(0)
    for (const { id, title, given } of RULES)
      expect(output).toContain(`pass  ${id.padEnd(22)} ${title} (${given ? `given, ${given}` : 'assumed'})`)
    expect(output).toContain(`${RULES.length} rules passed, 0 failed, 0 could not be checked.`)
    expect(output).toMatch(/> POST \/request-prices\n\s+> \{"items":/)
    expect(output).not.toContain(CLIENT.secret)
  })

  test('names the broken rule, shows its call without control characters, and exits with 1', async () => {
    const url = await started(status(({ path }) => path.startsWith('/stores/'), 404, 200, '\u001b[2Jnull'))
    const { code, output } = await check(url)
    expect(code).toBe(1)
    expect(output).toMatch(
      /^FAIL {2}store\.unknown .*\n.*must return 404, not 200\.\n\s+> GET \/stores\/[\w-]+\n\s+< 200 {2}\[2Jnull/m,
    )
  })

  test('exits with 1 for an assumed rule, and with --given-only warns of it and exits with 0', async () => {
    const url = await started(negative)
    expect(await check(url, ...DATA)).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^FAIL {2}prices\.negative /m),
    })
    const { code, output } = await check(url, ...DATA, '--given-only')
    expect(code, output).toBe(0)
    expect(output).toMatch(
      /^warn {2}prices\.negative .*\(assumed\)\n +The discount of item FT-1 is negative\./m,
    )
    expect(output).toContain('1 assumed rules broken')
  })

  test('exits with 1 for a broken rule that is given, with --given-only too', async () => {
    const url = await started(eachPriced(({ totalPrice }) => ({ totalPrice: totalPrice + 1 })))
    expect(await check(url, ...DATA, '--given-only')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^FAIL {2}prices\.total .*\(given, §2\.4\)/m),
    })
  })

  test('sends token requests as JSON with --token-json', async () => {
    const url = await started(refusing((asked) => isToken(asked) && asked.isForm, 400))
    const { output } = await check(url, '--token-json')
    expect(output).toMatch(/^pass {2}token\.encoding /m)
    expect((await check(url)).output).toMatch(/^FAIL {2}token\.encoding .*\(assumed\)/m)
  })

  test('says which option makes a rule checkable', async () => {
    const { code, output } = await check(right)
    // Not proven: rules that the specification gives could not be checked.
    expect(code, output).toBe(2)
    expect(output).toContain('Not proven')
    expect((await check(right, '--allow-unchecked')).code).toBe(0)
    expect(output).toMatch(/^ -- {3}prices\.not-in-range .*\n +Not checked: .*--not-in-range ITEM@STORE\.$/m)
  })

  test('writes reports without secrets', async () => {
    const [html, xml] = [join(dir, 'report.html'), join(dir, 'report.xml')]
    const url = await started(status(() => true, 404, 200, CLIENT.secret))
    expect(await check(url, ...DATA, '--report', html, '--report', xml)).toMatchObject({ code: 1 })
    const [page, junit] = [readFileSync(html, 'utf8'), readFileSync(xml, 'utf8')]
    expect(elementsOf(parseXml(page), 'tr')).toHaveLength(RULES.length + 1)
    expect(elementsOf(parseXml(junit), 'testcase')).toHaveLength(RULES.length)
    expect(elementsOf(parseXml(junit), 'failure').length).toBeGreaterThan(0)
    expect(page + junit).toContain('[hidden]')
    expect(page + junit).not.toContain(CLIENT.secret)
  })

  test('prints the results as JSON', async () => {
    const { code, output } = await check(right, '--json', '--near', '-37.81,144.96')
    expect(code).toBe(2)
    const results = JSON.parse(output) as { rule: string; basis: string; section?: string }[]
    expect(results.map(({ rule }) => rule)).toEqual(RULES.map(({ id }) => id))
    expect(results.find(({ rule }) => rule === 'token.fields')).toMatchObject({
      basis: 'given',
      section: '2.1',
    })
    expect(results.find(({ rule }) => rule === 'token.names')).not.toHaveProperty('section')
  })

  test('explains itself with --help', async () => {
    const { code, output } = await ran('--help')
    expect(code).toBe(0)
    expect(output).toMatch(/^Usage: npm run feature -- supplier-check run/)
  })

  test.each([
    ['where nobody answers', ['http://localhost:1/base'], /bad port/],
    ['that is not a URL', ['nowhere'], /'nowhere' is invalid[\s\S]*http or https URL[\s\S]*Usage/],
    ['with an invalid location', ['http://localhost:1', '--near', 'Sydney'], /LATITUDE,LONGITUDE/],
    ['with an item without a store', ['http://localhost:1', '--not-in-range', 'A'], /ITEM@STORE/],
    ['with a report in no folder', ['http://a', '--report', '/no/folder/x.html'], /no folder \/no\/folder/],
    ['that is missing', [], /missing required argument 'base-url'/],
  ])('fails for an address %s', async (_name, args, words) => {
    const { code, output } = await ran(...args, '--client-id', 'x', '--client-secret', 'y')
    expect([code, output]).toEqual([1, expect.stringMatching(words)])
  })

  test('rejects a report of another kind before it sends anything', async () => {
    let calls = 0
    const { port, close } = await serve((_req, res) => {
      calls++
      res.end()
    })
    const file = join(dir, 'report.pdf')
    const { code, output } = await check(`http://localhost:${port}`, '--report', file)
    await close()
    expect(code).toBe(1)
    expect(output).toContain('It must end with .html, or with .xml for JUnit.')
    expect(calls).toBe(0)
    expect(existsSync(file)).toBe(false)
  })
})
