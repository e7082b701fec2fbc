import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { serve } from '../../support/ports.ts'
import { command } from '../../support/process.ts'
import { type Cell, workbook } from '../../support/xlsx.ts'
import { GOOD, pushed, SCRIPT, withLayout } from './push-support.ts'
import { layoutOf } from './read-support.ts'
import { type SupplierPlatform, startPlatform } from './support.ts'

let platform: SupplierPlatform
beforeEach(async () => {
  platform = await startPlatform()
})
afterEach(() => platform.close())

const file: SupplierPlatform['write'] = (content, name) => platform.write(content, name)
const push = (args: string[], env?: Record<string, string>) => pushed(platform, args, env)
const TO_NEW = ['--catalogue', 'National RRP', '--scope', 'Public']

describe('push-catalogue', () => {
  test('creates the catalogue, imports, polls to the end, prints each step on its own line, and uses the catalogue again', async () => {
    const { code, output } = await push([file(GOOD), ...TO_NEW])
    expect(code).toBe(0)
    expect(output).toMatch(
      /Checked 2 rows: 2 ready, 0 with problems[\s\S]*Created catalogue "National RRP" \(Public\)[\s\S]*Starting import[\s\S]*Completed: 2 items/,
    )
    expect(output).not.toContain('\r')
    // The next run uses the catalogue that exists, and does not log in a second time.
    expect((await push([file(GOOD), ...TO_NEW])).output).not.toContain('Created')
    expect(await platform.statusesOf('login')).toHaveLength(1)
    const id = (await platform.catalogueIds()).get('National RRP') ?? ''
    expect([...(await platform.items(id)).keys()]).toEqual(['A1', 'A2'])
  })

  test('acts for a tenant that npm run feature -- first-party tenants lists', async () => {
    const tenants = await command('src/features/first-party/cli-tenants.ts', platform.env)
    expect(tenants.code).toBe(0)
    const [, coast = ''] = /^(\S+) {2}Summit Coast$/m.exec(tenants.output) ?? []
    expect(await push([file(GOOD), ...TO_NEW, '--tenant', coast])).toMatchObject({ code: 0 })
    expect((await platform.catalogueIds()).has('National RRP')).toBe(false)
  })

  test('needs a scope for a new catalogue, and does not touch one of another scope', async () => {
    const path = file(GOOD)
    expect((await push([path, '--catalogue', 'C'])).output).toContain('--scope Public or --scope Managed')
    await push([path, '--catalogue', 'C', '--scope', 'Managed'])
    const { code, output } = await push([path, '--catalogue', 'C', '--scope', 'Public'])
    expect(code).toBe(1)
    expect(output).toContain('is Managed, not Public. Nothing was sent')
    expect(await platform.statusesOf('items')).toHaveLength(1)
  })
})

describe('push-catalogue of a file that nobody has confirmed', () => {
  const UNKNOWN = 'Contractor list\nArtikel;Text;Preis\nA1;Nail;1,50\n'
  const unconfirmed = (content: string, layout?: string) => {
    const given = layout === undefined ? [] : ['--layout', file(layout, 'layout.json')]
    const args = [file(content), ...TO_NEW, ...given]
    return command(SCRIPT, platform.env, { args, cwd: platform.dir })
  }

  test('without a terminal ends with 2, says what would have to be confirmed and how, and sends nothing', async () => {
    const { code, output } = await unconfirmed(UNKNOWN)
    expect(code).toBe(2)
    for (const words of [
      'Contractor list',
      'Artikel (A1)',
      'Are the prices before GST?',
      '--save-layout layout.json',
    ])
      expect(output).toContain(words)
    expect(await platform.calls()).toEqual([])
  })

  test('whose layout is for another file ends with 2, and says what is different', async () => {
    const layout = JSON.stringify(await layoutOf(GOOD))
    const { code, output } = await unconfirmed(`${GOOD}prices include GST,,\n`, layout)
    expect(code).toBe(2)
    expect(output).toContain('the file now says “prices include GST”')
    expect(await platform.calls()).toEqual([])
  })

  test.each([
    ['{"sheets":[]}', 'tax'],
    ['not JSON', 'is not a layout'],
  ])('with the layout %s says what is wrong in it', async (content, words) => {
    expect(await unconfirmed(GOOD, content)).toMatchObject({
      code: 1,
      output: expect.stringContaining(words),
    })
  })

  test('whose prices are not for everyone does not create a public catalogue', async () => {
    const layout = JSON.stringify(await layoutOf(GOOD, { audience: 'selected' }))
    const { code, output } = await unconfirmed(GOOD, layout)
    expect(code).toBe(1)
    expect(output).toContain('this catalogue is not Managed')
    expect(await platform.calls()).toEqual([])
  })
})

test('push-catalogue finds a catalogue on a later page of a platform whose pages hold fewer than asked for', async () => {
  const names = Array.from({ length: 25 }, (_, index) => `C${index}`)
  const server = await serve((req, res) => {
    req.resume()
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://x')
    const skip = Number(searchParams.get('$skip'))
    const page = names.slice(skip, skip + 10).map((name) => ({ id: name, name, scope: 'Public' }))
    const login = { accessToken: 'a', refreshToken: 'r', expiresIn: 600 }
    const answers: Record<string, unknown> = { '/accounts/auth/login': login, '/catalogues': page }
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify(answers[pathname] ?? { status: 'Succeeded' }))
  })
  const env = { PLATFORM_API_URL: `http://127.0.0.1:${server.port}` }
  const { code, output } = await push([file(GOOD), '--catalogue', 'C24', '--scope', 'Public'], env)
  expect(code, output).toBe(0)
  await server.close()
})

describe('push-catalogue of a file with problem rows', () => {
  test('skips them, names the first 20, and writes all of them to the report', async () => {
    const rows = Array.from({ length: 30 }, (_, row) => `B${row},n${row},-1`).join('\n')
    const report = join(platform.dir, 'report.csv')
    const { code, output } = await push([file(`${GOOD}${rows}\nX,=1+1,-2\n`), ...TO_NEW, '--report', report])
    expect(code).toBe(0)
    expect(output).toMatch(
      /Line 4: the price is negative\.[\s\S]*\.\.\. and 11 more[\s\S]*31 rows had problems and were skipped/,
    )
    const lines = readFileSync(report, 'utf8').trim().split('\r\n')
    expect(lines).toHaveLength(32)
    expect(lines.at(-1)).toContain('"34",')
    expect(lines.at(-1)).toContain("'=1+1")
  })

  test('names the sheet of each, if there are several', async () => {
    const rows = [
      ['code', 'price'],
      ['A', 1],
      ['B', -1],
    ] satisfies Cell[][]
    const list = workbook(['Nails', 'Boards'].map((name) => ({ name, rows })))
    const layout = JSON.stringify(await layoutOf(list, { sheets: ['Nails', 'Boards'] }))
    const args = [file(list), '--dry-run', '--layout', file(layout, 'layout.json')]
    expect((await push(args)).output).toContain('Sheet "Boards", line 3: the price is negative.')
  })

  test('rejects a report that would overwrite the price file, or that cannot be written', async () => {
    const path = file(`${GOOD}A3,x,-1\n`)
    const [itself, nowhere] = await Promise.all([
      push([path, ...TO_NEW, '--report', path]),
      push([path, '--dry-run', '--report', '/none/report.csv']),
    ])
    expect(itself).toMatchObject({ code: 1, output: expect.stringContaining('would overwrite it') })
    expect(readFileSync(path, 'utf8')).toContain('A3,x,-1')
    expect(nowhere).toMatchObject({ code: 1, output: expect.stringContaining('cannot be written (ENOENT)') })
  })

  test('with --dry-run sends nothing, not even a login, and empties the report of an earlier file', async () => {
    const report = file('STALE', 'report.csv')
    const { code, output } = await push([file(GOOD), '--dry-run', '--report', report])
    expect(code).toBe(0)
    expect(output).toContain('Nothing was sent')
    expect(readFileSync(report, 'utf8').trim()).toBe('"Line","Reason","code","name","price"')
    expect(await platform.calls()).toEqual([])
  })
})

describe('push-catalogue without settings', () => {
  const withoutSettings = async (args: string[], env: Record<string, string> = {}) =>
    command(SCRIPT, env, { args: await withLayout(args), cwd: platform.dir })

  test.each([
    ['explains itself', ['--help'], 'Usage: npm run feature -- price-files push-catalogue', 0],
    ['that there is no file', [], "missing required argument 'file'", 1],
    ['that there is no catalogue', ['x.csv'], "'--catalogue <name>' or '--catalogue-id <id>'", 1],
    ['which option is unknown', ['x.csv', '--catalog', 'x'], "unknown option '--catalog'", 1],
    ['that there are two files', ['x.csv', 'y.csv', '--catalogue', 'C'], 'too many arguments', 1],
    [
      'which scopes there are',
      ['x.csv', '--catalogue', 'C', '--scope', 'Secret'],
      'Allowed choices are Public, Managed',
      1,
    ],
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
    const { code, output } = await withoutSettings([file(GOOD), ...TO_NEW, '--demo'], env)
    expect(code, output).toBe(0)
    expect((await platform.catalogueIds()).has('National RRP')).toBe(true)
  })
})

test('push-catalogue with a wrong tenant says so, and does not repeat it', async () => {
  const { code, output } = await push([file(GOOD), ...TO_NEW], { PLATFORM_TENANT_ID: 'wrong-secret' })
  expect(code).toBe(1)
  expect(output).toContain('rejected the email, API key, subscription key or tenant')
  expect(output).not.toContain('wrong-secret')
})
