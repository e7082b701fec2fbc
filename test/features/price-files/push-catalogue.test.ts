import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { serve } from '../../support/ports.ts'
import { command } from '../../support/process.ts'
import { workbook } from '../../support/xlsx.ts'
import { fileIn, GOOD, pushed } from './push-support.ts'
import { type SupplierPlatform, startPlatform } from './support.ts'

let platform: SupplierPlatform
beforeEach(async () => {
  platform = await startPlatform()
})
afterEach(() => platform.close())

const file = (content: string | Buffer, name?: string) => fileIn(platform, content, name)
const push = (args: string[], env?: Record<string, string>) => pushed(platform, args, env)
const TO_NEW = ['--catalogue', 'National RRP', '--scope', 'Public']

describe('push-catalogue', () => {
  test('creates the catalogue, imports, polls to the end, and prints each step on its own line', async () => {
    const { code, output } = await push([file(GOOD), ...TO_NEW])
    expect(code).toBe(0)
    expect(output).toMatch(
      /Checked 2 rows: 2 ready, 0 with problems[\s\S]*Created catalogue "National RRP" \(Public\)[\s\S]*Starting import[\s\S]*Completed: 2 items/,
    )
    expect(output).not.toContain('\r')
    const id = (await platform.catalogueIds()).get('National RRP') ?? ''
    expect([...(await platform.items(id)).keys()]).toEqual(['A1', 'A2'])
  })

  test('uses the catalogue that exists, and does not log in a second time', async () => {
    const args = [file(GOOD), ...TO_NEW]
    await push(args)
    expect((await push(args)).output).not.toContain('Created')
    expect(await platform.statusesOf('login')).toHaveLength(1)
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

describe('push-catalogue of a file with questions', () => {
  test.each<[string, string, string[]]>([
    [
      'the price column and the headings',
      'A;Nail;1,250\n',
      ['  2  Column 2 (Nail)', '--map price=NUMBER', '--headings-row NUMBER, or --no-headings'],
    ],
    ['GST', 'code,RRP inc GST\nA,11\n', ['--gst 10 to remove']],
  ])('asks for %s, says which options answer, and sends nothing', async (_name, content, hints) => {
    const { code, output } = await push([file(content), ...TO_NEW])
    expect(code).toBe(1)
    for (const hint of hints) expect(output).toContain(hint)
    expect(await platform.calls()).toEqual([])
  })

  test('takes the answers as options', async () => {
    const columns = ['--no-headings', '--map', 'code=1', '--map', 'price=3']
    const path = file('A;Nail;1,250\n')
    expect((await push([path, '--dry-run', ...columns])).output).toContain(
      '--decimal point or --decimal comma',
    )
    const { code, output } = await push([path, '--dry-run', ...columns, '--decimal', 'point', '--gst', '10'])
    expect(code, output).toBe(0)
    expect(output).toMatch(/1 ready[\s\S]*include 10% GST, which is removed/)
  })

  test('reads a sheet of a workbook', async () => {
    const rows = (code: string) => [
      ['Code', 'Price'],
      [code, 1.5],
    ]
    const path = file(
      Buffer.from(workbook(['North', 'South'].map((name) => ({ name, rows: rows(name) })))),
      'prices.xlsx',
    )
    const { code, output } = await push([path, ...TO_NEW, '--sheet', 'South'])
    expect(code, output).toBe(0)
    expect(output).toContain('Checked 1 rows of the sheet "South"')
    const id = (await platform.catalogueIds()).get('National RRP') ?? ''
    expect([...(await platform.items(id)).keys()]).toEqual(['South'])
  })

  test('compares the file with the last one', async () => {
    await push([file('code,price\nA,1\nB,2\nC,3\n'), ...TO_NEW])
    const { output } = await push([file('code,price\nA,3\n'), ...TO_NEW])
    expect(output).toMatch(
      /1 with another price \(1 of them by more than 20%\), 2 missing[\s\S]*A: 1 → 3[\s\S]*Starting import/,
    )
  })
})

describe('push-catalogue on a platform whose pages hold fewer than asked for', () => {
  test('finds a catalogue on a later page, and does not create it again', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `C${index}`)
    let created = 0
    const server = await serve((req, res) => {
      req.resume()
      const url = new URL(req.url ?? '', 'http://x')
      res.setHeader('content-type', 'application/json')
      const skip = Number(url.searchParams.get('$skip') ?? 0)
      if (url.pathname.startsWith('/accounts'))
        res.end('{"accessToken":"a","refreshToken":"r","expiresIn":600}')
      else if (url.pathname !== '/catalogues') res.end('{"status":"Succeeded"}')
      else if (req.method === 'GET')
        res.end(
          JSON.stringify(names.slice(skip, skip + 10).map((name) => ({ id: name, name, scope: 'Public' }))),
        )
      else {
        created++
        res.end('{"id":"new","name":"C24","scope":"Public"}')
      }
    })
    const env = { PLATFORM_API_URL: `http://127.0.0.1:${server.port}` }
    const { code, output } = await push([file(GOOD), '--catalogue', 'C24', '--scope', 'Public'], env)
    expect(code, output).toBe(0)
    expect(created).toBe(0)
    await server.close()
  })
})

describe('push-catalogue of a file with problem rows', () => {
  test('skips them, names the first 20, and writes all of them to the report', async () => {
    const rows = Array.from({ length: 30 }, (_, row) => `,n${row},1`).join('\n')
    const report = join(platform.dir, 'report.csv')
    const { code, output } = await push([file(`${GOOD}${rows}\nX,=1+1,bad\n`), ...TO_NEW, '--report', report])
    expect(code).toBe(0)
    expect(output).toMatch(
      /Line 4: the code is missing\.[\s\S]*\.\.\. and 11 more[\s\S]*31 rows had problems and were skipped/,
    )
    const lines = readFileSync(report, 'utf8').trim().split('\r\n')
    expect(lines).toHaveLength(32)
    expect(lines.at(-1)).toContain('"34",')
    expect(lines.at(-1)).toContain("'=1+1")
  })

  test('with --strict sends nothing', async () => {
    const { code, output } = await push([file(`${GOOD},x,1\n`), ...TO_NEW, '--strict'])
    expect(code).toBe(1)
    expect(output).toContain('nothing was sent (--strict)')
    expect(await platform.calls()).toEqual([])
  })

  test('with --dry-run sends nothing, not even a login', async () => {
    const { code, output } = await push([file(`${GOOD},x,1\n`), '--dry-run'])
    expect(code).toBe(0)
    expect(output).toContain('Nothing was sent')
    expect(await platform.calls()).toEqual([])
  })

  test('rejects a report that would overwrite the price file, or that cannot be written', async () => {
    const path = file(`${GOOD}A3,x,bad\n`)
    const [itself, nowhere, full] = await Promise.all([
      push([path, ...TO_NEW, '--report', path]),
      push([path, '--dry-run', '--report', '/none/report.csv']),
      push([path, '--dry-run', '--report', '/dev/full']),
    ])
    expect(itself).toMatchObject({ code: 1, output: expect.stringContaining('would overwrite it') })
    expect(readFileSync(path, 'utf8')).toContain('A3,x,bad')
    expect(nowhere).toMatchObject({ code: 1, output: expect.stringContaining('cannot be written (ENOENT)') })
    expect(full).toMatchObject({ code: 1, output: expect.stringContaining('ENOSPC') })
  })

  test('empties the report of an earlier file', async () => {
    const report = file('STALE', 'report.csv')
    await push([file(GOOD), '--dry-run', '--report', report])
    expect(readFileSync(report, 'utf8')).toBe('')
  })
})

test('push-catalogue asks for columns that it cannot guess, and accepts them by heading or number', async () => {
  const args = [file('Artikel;Text;Preis\nA1;Nail;1,50\n'), '--catalogue', 'C', '--scope', 'Public']
  const map = (...choices: string[]) => push([...args, ...choices.flatMap((choice) => ['--map', choice])])
  const [unmapped, field, column] = await Promise.all([map(), map('colour=1'), map('code=9')])
  expect(unmapped).toMatchObject({
    code: 1,
    output: expect.stringMatching(/No column was recognised as the code[\s\S]*1 {2}Artikel[\s\S]*--map/),
  })
  expect(field).toMatchObject({ code: 1, output: expect.stringContaining('unknown field; use one of code') })
  expect(column).toMatchObject({ code: 1, output: expect.stringContaining('no such column') })
  expect((await map('code=Artikel', 'price=3', 'name=2')).code).toBe(0)
  const id = (await platform.catalogueIds()).get('C') ?? ''
  expect((await platform.items(id)).get('A1')).toEqual({ code: 'A1', name: 'Nail', price: 1.5 })
})
