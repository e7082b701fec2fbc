import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { texts as importTexts } from '../../../../../src/features/supplier/catalogue-files/import-texts.ts'
import { Records } from '../../../../../src/features/supplier/catalogue-files/records.ts'
import { texts } from '../../../../../src/features/supplier/catalogue-files/texts.ts'
import { openByApiKey } from '../../../../../src/features/supplier/first-party/by-api-key.cli.ts'
import { format } from '../../../../../src/web/feature-api.ts'
import { serve } from '../../../../support/ports.ts'
import { command } from '../../../../support/process.ts'
import type { Platform } from '../../first-party/support.ts'
import { itemsNamed, openPlatform, pushed } from './push-support.ts'

let platform: Platform
const SEEN = ['--catalogue', 'Seen', '--scope', 'Public']
beforeAll(async () => {
  platform = await openPlatform()
  expect(await push([file('code,price\nA,1.50\nB,12\n'), ...SEEN])).toMatchObject({ code: 0 })
})
afterAll(() => platform.close())

let files = 0
const file = (content: string) => platform.write(content, `${files++}.csv`)
const push = (args: string[], env?: Record<string, string>) => pushed(platform, args, env)
const codeIn = (output: string) => /--accept (\w{16})/.exec(output)?.[1] ?? ''
const uploads = async () => (await platform.statusesOf('items')).length

describe('push-catalogue', () => {
  test('creates the catalogue, prints what differs, and ends with 0 when the platform has completed the import', async () => {
    const sent = await push([
      file('code,price,name\nA,1,Nail\nB,2,Bolt\n'),
      '--catalogue',
      'New',
      '--scope',
      'Public',
    ])
    expect(sent.code, sent.output).toBe(0)
    expect(sent.output).toMatch(
      /"added": 2[\s\S]*Created catalogue "New" \(Public\)[\s\S]*Completed: 2 items/,
    )
    expect([...(await itemsNamed(platform, 'New')).values()]).toEqual([
      { code: 'A', price: 1, name: 'Nail' },
      { code: 'B', price: 2, name: 'Bolt' },
    ])
    // Only the first run logs in.
    expect((await platform.statusesOf('login')).length).toBeLessThanOrEqual(2)
  })

  test('is refused while another run may be creating its catalogue', async () => {
    const session = await openByApiKey(platform.env)
    const lease = await new Records(session.store, session.apiUrl).lease(`${session.credential} Once`)
    const args = [file('code,price\nA,1\n'), '--catalogue', 'Once', '--scope', 'Public']
    const refused = expect.stringContaining(importTexts.errors.otherRunning)
    expect(await push(args)).toMatchObject({ code: 1, output: refused })
    await lease?.release()
    await session.close()
    expect(await push(args)).toMatchObject({ code: 0 })
  })

  test('with --dry-run sends nothing and creates nothing', async () => {
    const before = await uploads()
    const dry = await push([
      file('code,price\nA,1\n'),
      '--catalogue',
      'Dry',
      '--scope',
      'Public',
      '--dry-run',
    ])
    expect(dry).toMatchObject({ code: 0, output: expect.stringMatching(/"added": 1[\s\S]*Nothing was sent/) })
    expect(await uploads()).toBe(before)
    const { output } = await push([file('code,price\nA,1\n'), '--catalogue', 'Dry'])
    expect(output).toContain('No catalogue is named "Dry". To create it, add --scope Public or')
  })

  test('ends with 1 for a file with errors, and prints line, column, what was found and what is expected', async () => {
    const before = await uploads()
    const { code, output } = await push([file('code,price\nA,$1.50\n'), ...SEEN])
    expect(code).toBe(1)
    const { expected, cure } = texts.expectations.currency
    const kind = format.undirected(importTexts.wrong.kind(1, 'price', expected))
    expect(output).toContain(`${kind} ${cure}`)
    expect(output).toContain(texts.place(2, '$1.50'))
    expect(await uploads()).toBe(before)
  })

  test('ends with 2 where a page asks for a tick, and sends exactly this file and difference with --accept', async () => {
    const before = await uploads()
    const rise = 'code,price\nA,15\nB,12\n'
    const asked = await push([file(rise), ...SEEN])
    expect(asked.code, asked.output).toBe(2)
    const first = { code: 'A', before: 1.5, after: 15, percent: 900 }
    const question = importTexts.question({ kind: 'doubled', count: 1, first })
    expect(asked.output).toContain(format.undirected(question))
    const accept = ['--accept', codeIn(asked.output)]
    expect(await push([file(rise.replace('12', '13')), ...SEEN, ...accept])).toMatchObject({ code: 2 })
    expect(await uploads()).toBe(before)
    expect(await push([file(rise), ...SEEN, ...accept])).toMatchObject({ code: 0 })
    // The catalogue has changed since then, so the code belongs to a different comparison.
    expect(await push([file(rise), ...SEEN, ...accept])).toMatchObject({
      code: 2,
      output: expect.stringContaining('stands for another file or difference'),
    })
  })

  test('acts for a tenant, and does not touch a catalogue of another scope', async () => {
    const tenants = await command('src/features/supplier/first-party/cli-tenants.ts', platform.env)
    const [, coast = ''] = /^(\S+) {2}Summit Coast$/m.exec(tenants.output) ?? []
    const ok = file('code,price\nA,1\n')
    const unknown = await push([ok, '--catalogue', 'Seen', '--tenant', coast])
    expect(unknown.output).toContain('No catalogue is named "Seen"')
    const other = await push([ok, '--catalogue', 'Seen', '--scope', 'Managed'])
    expect(other).toMatchObject({ code: 1, output: expect.stringContaining('is Public, not Managed') })
  })

  test('says what is wrong with a tenant, without the secret', async () => {
    const { output } = await push([file('code,price\nA,1\n'), ...SEEN], {
      PLATFORM_TENANT_ID: 'wrong-secret',
    })
    expect(output).toContain('rejected the email, API key, subscription key or tenant')
    expect(output).not.toContain('wrong-secret')
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
    const { output } = await push(
      [file('code,price\nA,1\n'), '--catalogue', 'C24', '--scope', 'Managed'],
      env,
    )
    expect(output).toContain('The catalogue "C24" is Public, not Managed')
    await server.close()
  })

  test('names a file that does not exist', async () => {
    const missing = await push(['/none.csv', ...SEEN])
    expect(missing).toEqual({ code: 1, output: 'The file /none.csv does not exist.\n' })
  })
})
