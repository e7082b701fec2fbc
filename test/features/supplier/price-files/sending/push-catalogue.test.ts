import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serve } from '../../../../support/ports.ts'
import { command } from '../../../../support/process.ts'
import { type SupplierPlatform, startPlatform } from '../support.ts'
import { AS_CHOSEN, accepted, GOOD, pushed, SCRIPT } from './push-support.ts'
import { CHOICE } from './service-support.ts'

let platform: SupplierPlatform
beforeAll(async () => {
  platform = await startPlatform()
  await push(await accepted(platform, [file(GOOD), ...SEEN, ...AS_CHOSEN]))
})
afterAll(() => platform.close())

/** A catalogue that has received `GOOD` from here. */
const SEEN = ['--catalogue', 'Seen', '--scope', 'Public']
let files = 0
const file = (content: string) => platform.write(content, `${files++}.csv`)
const push = (args: string[], env?: Record<string, string>) => pushed(platform, args, env)
const itemsOf = async (name: string) => platform.items((await platform.catalogueIds()).get(name) ?? '')
/** The code with which a person accepts what a run has printed. */
const codeIn = (output: string) => /--accept (\w{12})/.exec(output)?.[1] ?? ''
/** Expects that a run ends with 2 and sends nothing. Resolves to what it prints. */
async function stops(args: string[]): Promise<string> {
  const uploads = (await platform.statusesOf('items')).length
  const { code, output } = await push(args)
  expect(code, output).toBe(2)
  expect(await platform.statusesOf('items')).toHaveLength(uploads)
  return output
}

describe('push-catalogue', () => {
  test('sends the first file of a catalogue when somebody has seen what it prints, and nothing before', async () => {
    const args = [file(GOOD), '--catalogue', 'New', '--scope', 'Public', ...AS_CHOSEN]
    const output = await stops(args)
    expect(output).toMatch(/A2.*12[\s\S]*2 of 2 rows can be sent to "New" \(Public\), in Australian dollars/)
    expect(await stops([...args, '--accept', 'x'.repeat(12)])).toContain('stands for another')
    args.push('--accept', codeIn(output))
    expect(await push([...args, '--dry-run'])).toMatchObject({ code: 0 })
    const sent = await push(args)
    expect(sent.code, sent.output).toBe(0)
    expect(sent.output).toMatch(
      /Created catalogue "New" \(Public\)[\s\S]*Starting the import[\s\S]*Completed: 2 items/,
    )
    expect(sent.output).not.toContain('\r')
    // No run but the first logs in.
    expect(await platform.statusesOf('login')).toHaveLength(1)
    expect([...(await itemsOf('New')).keys()]).toEqual(['A1', 'A2'])
    // The next file needs no choice and no person if only its prices are new.
    const next = await push([file('code,price\nA1,1.55\nA2,12\n'), '--catalogue', 'New'])
    expect(next.code, next.output).toBe(0)
    expect(next.output).toContain('1 price is the same')
    const [choice = ''] = /--choice '.*'/.exec(next.output) ?? []
    expect(JSON.parse(choice.slice("--choice '".length, -1))).toEqual(CHOICE)
    expect((await itemsOf('New')).get('A1')).toMatchObject({ price: 1.55 })
  })

  test('ends with 2 and sends nothing if nobody has said how the file is read', async () => {
    expect(await stops([file('Artikel,,Preis\nA1,,1\n'), ...SEEN])).toMatch(
      /1\. Artikel \(not sent\): A1\n {2}2\. Column 2[\s\S]*--choice '{[\s\S]*lacks "code"[\s\S]*lacks "price"[\s\S]*lacks "money"[\s\S]*"AUD before GST"[\s\S]*"NZD including GST"/,
    )
  })

  test('ends with 2 for a new text, with a code for this file, this choice and exactly these differences', async () => {
    const winter = `${GOOD}Prices in NZD,\n`
    const output = await stops([file(winter), ...SEEN])
    expect(output).toContain('Prices in NZD')
    const rest = [...SEEN, '--accept', codeIn(output)]
    const args = [file(winter), ...rest]
    expect(await stops([file(`${winter}\n`), ...rest])).toContain('stands for another')
    const choice = JSON.stringify({ ...CHOICE, units: 2 })
    expect(await stops([...args, '--choice', choice])).toContain('stands for another')
    // Something else is sent, although nothing that page two shows of the file is different then.
    const columns = [{ heading: 'SKU', number: 1, use: 'code' }, ...CHOICE.columns.slice(1)]
    const how = ['--choice', JSON.stringify({ ...CHOICE, columns })]
    const other = await accepted(platform, [file('SKU,price\nA1,1.50\n'), ...SEEN, ...how])
    expect(await push(other)).toMatchObject({ code: 0 })
    expect(await stops(args)).toContain('stands for another')
  })

  test('acts for a tenant, and does not touch a catalogue of another scope', async () => {
    const tenants = await command('src/features/supplier/first-party/cli-tenants.ts', platform.env)
    const [, coast = ''] = /^(\S+) {2}Summit Coast$/m.exec(tenants.output) ?? []
    const unknown = await push([file(GOOD), '--catalogue', 'Seen', '--tenant', coast])
    expect(unknown.output).toContain('No catalogue is named "Seen". To create it, add --scope Public or')
    const other = await push([file(GOOD), '--catalogue', 'Seen', '--scope', 'Managed'])
    expect(other).toMatchObject({ code: 1, output: expect.stringContaining('is Public, not Managed') })
  })

  test('says what is wrong with a choice or a tenant, without the secret', async () => {
    const say = async (args: string[], env?: Record<string, string>) =>
      (await push([file(GOOD), ...SEEN, ...args], env)).output
    expect(await say(['--choice', '{code'])).toContain('is not JSON')
    expect(await say(['--choice', '{"sheet":""}'])).toMatch(/not complete[\s\S]*money/)
    const wrong = await say([], { PLATFORM_TENANT_ID: 'wrong-secret' })
    expect(wrong).toContain('rejected the email, API key, subscription key or tenant')
    expect(wrong).not.toContain('wrong-secret')
  })

  test('finds a catalogue on a later page of a platform whose pages hold fewer than asked for', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `C${index}`)
    const server = await serve((req, res) => {
      req.resume()
      const { pathname, searchParams } = new URL(req.url ?? '', 'http://x')
      const skip = Number(searchParams.get('$skip'))
      const page = names.slice(skip, skip + 10).map((name) => ({ id: name, name, scope: 'Public' }))
      const login = { accessToken: 'a', refreshToken: 'r', expiresIn: 600 }
      const answers: Record<string, unknown> = { '/accounts/auth/login': login, '/catalogues': page }
      res.setHeader('content-type', 'application/json')
      res.end(JSON.stringify(answers[pathname] ?? {}))
    })
    const env = { PLATFORM_API_URL: `http://127.0.0.1:${server.port}` }
    const { output } = await push([file(GOOD), '--catalogue', 'C24', '--scope', 'Managed'], env)
    expect(output).toContain('The catalogue "C24" is Public, not Managed')
    await server.close()
  })
})

describe('push-catalogue without settings', () => {
  const withoutSettings = (args: string[], env: Record<string, string> = {}) =>
    command(SCRIPT, env, { args, cwd: platform.dir })

  test.each([
    ['explains itself', ['--help'], 'Usage: npm run feature -- price-files push-catalogue', 0],
    ['that there is no catalogue', ['x.csv'], "'--catalogue <name>' or '--catalogue-id <id>'", 1],
    [
      'that the file does not exist',
      ['/none.csv', '--catalogue', 'C'],
      'The file /none.csv does not exist.',
      1,
    ],
  ])('says %s', async (_name, args, words, code) => {
    expect(await withoutSettings(args)).toMatchObject({ code, output: expect.stringContaining(words) })
  })

  test('uses the running sandbox with --demo', async () => {
    const env = { DATA_DIR: platform.dir, SANDBOX_PORT: new URL(platform.url).port }
    const { output } = await withoutSettings([file(GOOD), '--catalogue', 'Demo', '--demo'], env)
    expect(output).toContain('No catalogue is named "Demo"')
  })
})
