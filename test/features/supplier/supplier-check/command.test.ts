import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import { RULES } from '../../../../src/features/supplier/supplier-check/check-supplier.ts'
import { serve } from '../../../support/ports.ts'
import { command } from '../../../support/process.ts'
import { bytesOf, type Change, CLIENT, createModel, readAsked } from './model.ts'

const running: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of running) await close()
})

/** The model as a server. Its answers come in pieces, and its tokens end while the check waits. */
async function started(change: Change = () => ({})): Promise<string> {
  const model = createModel((right) => ({ expiresIn: 4, ...change(right) }))
  const { port, close } = await serve(async (req, res) => {
    const { authorization, 'content-type': type } = req.headers
    const answer = await model(readAsked(req.url ?? '', authorization, type, await text(req)))
    res.writeHead(answer.status, { 'Content-Type': 'application/json', ...answer.headers })
    for (const part of bytesOf(answer).match(/.{1,40}/gs) ?? []) res.write(part)
    res.end()
  })
  running.push(close)
  return `http://localhost:${port}`
}

const ran = (...args: string[]) => command('src/features/supplier/supplier-check/cli-run.ts', {}, { args })
const check = (url: string, ...more: string[]) =>
  ran(url, '--client-id', CLIENT.id, '--client-secret', CLIENT.secret, ...more)
const ITEMS = ['--item', 'A-1=10', '--item', 'B-2=20.50', '--store', 'melbourne']
const MEMBERS = ['--member', 'M-1:A-1=9.00', '--member', 'M-1:B-2=20.5']

describe('npm run feature -- supplier-check run', () => {
  test('exits with 0 if every rule is proven, and prints each with its section, and what it assumes once', async () => {
    const { code, output } = await check(await started(), ...ITEMS, ...MEMBERS, '--verbose')
    expect(code, output).toBe(0)
    for (const [
      id,
      {
        given: [section, sentence],
      },
    ] of Object.entries(RULES))
      expect(output).toContain(`proven    ${id.padEnd(24)}  ${sentence} (§${section})`)
    const count = Object.keys(RULES).length
    expect(output).toContain(`${count} rules: ${count} proven, 0 wrong, 0 unproven.`)
    expect(output.match(/A call sends the token as Authorization: Bearer\./g)).toHaveLength(1)
    expect(output).toMatch(/> POST \/request-prices\n\s+> \{"items":/)
    expect(output).not.toContain(CLIENT.secret)
  })

  test('exits with 1 if a rule is wrong, shows its call, and names what is unproven and which option helps', async () => {
    const url = await started((right) => ({
      lookUp: (id) => {
        const answer = right.lookUp(id)
        return answer.status === 404 ? { status: 500, body: '\u001b[2Jno' } : answer
      },
    }))
    const { code, output } = await check(url, '--wait', '0')
    expect(code).toBe(1)
    expect(output).toMatch(
      /^WRONG {5}store\.unknown .*\n.*must return 404, not 500\.\n +> GET \/stores\/\S+\n +< 500 {2}\[2Jno/m,
    )
    expect(output).toMatch(/^unproven {2}price\.right .*\n +No price is known.*--item CODE=PRICE\.$/m)
    expect(output).toMatch(
      /^unproven {2}member\.price .*\n +No price of a member.*--member NUMBER:CODE=PRICE\.$/m,
    )
    expect(output).toMatch(
      /^Wrong: store\.unknown\.\nUnproven: .*price\.before-tax, price\.right, member\.price/m,
    )
  })

  test('exits with 2 if rules are only unproven, and prints the findings as JSON', async () => {
    const { code, output } = await check(await started(), '--json', '--near', '-37.81,144.96', '--wait', '0')
    expect(code, output).toBe(2)
    const findings: { rule: string; section: string; outcome: string }[] = JSON.parse(output)
    expect(findings.map(({ rule }) => rule)).toEqual(Object.keys(RULES))
    expect(findings[0]).toMatchObject({
      rule: 'token.issued',
      section: '4.1',
      outcome: 'proven',
      status: 200,
    })
  })

  test('explains itself with --help', async () => {
    const { code, output } = await ran('--help')
    expect(code).toBe(0)
    expect(output).toMatch(/^Usage: npm run feature -- supplier-check run/)
  })

  test.each([
    ['an address where nobody answers', ['http://localhost:1/base'], /Nothing can be checked: .*bad port/],
    ['an address that is no URL', ['nowhere'], /'nowhere' is invalid[\s\S]*http or https URL[\s\S]*Usage/],
    ['a place without coordinates', ['http://localhost:1', '--near', 'Sydney'], /LATITUDE,LONGITUDE/],
    ['an item without a price', ['http://localhost:1', '--item', 'A-1'], /CODE=PRICE/],
    ['a price that is no number', ['http://localhost:1', '--item', 'A-1=1,250'], /CODE=PRICE/],
    ['a member without an item', ['http://localhost:1', '--member', 'M-1=9'], /NUMBER:CODE=PRICE/],
    ['an item without a store', ['http://localhost:1', '--not-in-range', 'A'], /CODE@STORE/],
    ['a wait of no seconds', ['http://localhost:1', '--wait', 'long'], /whole number of seconds/],
    ['no address', [], /missing required argument 'base-url'/],
  ])('fails for %s', async (_name, args, words) => {
    const { code, output } = await ran(...args, '--client-id', 'x', '--client-secret', 'y')
    expect([code, output]).toEqual([1, expect.stringMatching(words)])
  })
})
