import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { median } from '../../bench/measure.ts'
import { serve } from '../../support/ports.ts'
import { run } from '../../support/process.ts'
import { itemOf, push, type SupplierPlatform, startPlatform, writePriceFile } from './support.ts'

let platform: SupplierPlatform
beforeEach(async () => {
  platform = await startPlatform()
})
afterEach(() => platform.close())

const file = (content: string | Buffer, name = 'prices.csv') => {
  const path = join(platform.dir, name)
  writeFileSync(path, content)
  return path
}
const uploads = async () => (await platform.calls()).filter(({ endpoint }) => endpoint === 'items').length
/** Runs the command to its end. */
async function pushed(args: string[], env: Record<string, string> = {}) {
  const program = push(platform, args, env)
  return { code: await program.exited, output: program.output() }
}
const GOOD = 'code,name,price\nA1,Nail,1.50\nA2,Board,12\n'

describe('push-catalogue', () => {
  test('creates the catalogue, imports, polls to the end, and tells each step on a line of its own', async () => {
    const { code, output } = await pushed([file(GOOD), '--catalogue', 'National RRP', '--scope', 'Public'])
    expect(code).toBe(0)
    expect(output).toMatch(
      /Checked 2 rows: 2 can go[\s\S]*Created the catalogue "National RRP" \(Public\)[\s\S]*Starting import[\s\S]*Completed: 2 items/,
    )
    expect(output).not.toContain('\r')
    const id = (await platform.catalogueIds()).get('National RRP') ?? ''
    expect([...(await platform.items(id)).keys()]).toEqual(['A1', 'A2'])
  })

  test('takes its settings from the .env of its folder, as npm run tenants does', async () => {
    const settings = Object.entries(platform.env).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(join(platform.dir, '.env'), settings.join(''))
    const args = [file(GOOD), '--catalogue', 'National RRP', '--scope', 'Public']
    for (const [script, given] of [
      ['price-files/cli-push-catalogue', args],
      ['first-party/cli-tenants', []],
    ] as const) {
      const program = run(`src/features/${script}.ts`, {}, { args: [...given], cwd: platform.dir })
      expect(await program.exited, program.output()).toBe(0)
    }
  })

  test('uses the catalogue that is there, and logs in no second time', async () => {
    const args = [file(GOOD), '--catalogue', 'National RRP', '--scope', 'Public']
    await pushed(args)
    expect((await pushed(args)).output).not.toContain('Created')
    expect((await platform.calls()).filter(({ endpoint }) => endpoint === 'login')).toHaveLength(1)
  })

  test('leaves bad rows out, names them, and writes them all to the report', async () => {
    const rows = Array.from({ length: 30 }, (_, row) => `,n${row},1`).join('\n')
    const report = join(platform.dir, 'report.csv')
    const path = file(`${GOOD}${rows}\nX,=1+1,1\n`)
    const { code, output } = await pushed([path, '--catalogue', 'C', '--scope', 'Public', '--report', report])
    expect(code).toBe(0)
    expect(output).toMatch(
      /Line 4: the code is missing\.[\s\S]*\.\.\. and 11 more[\s\S]*31 rows had problems and were left out/,
    )
    const lines = readFileSync(report, 'utf8').trim().split('\r\n')
    expect(lines).toHaveLength(32)
    expect(lines.at(-1)).toContain('"34",')
    expect(lines.at(-1)).toContain("'=1+1")
  })

  test('refuses a report that would replace the price file, and empties an earlier one', async () => {
    const path = file(`${GOOD}A3,x,bad\n`)
    const refused = await pushed([path, '--catalogue', 'C', '--scope', 'Public', '--report', path])
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('would replace it') })
    expect(readFileSync(path, 'utf8')).toContain('A3,x,bad')
    const report = file('STALE', 'report.csv')
    await pushed([file(GOOD, 'good.csv'), '--dry-run', '--report', report])
    expect(readFileSync(report, 'utf8')).toBe('')
    const nowhere = await pushed([path, '--dry-run', '--report', '/none/report.csv'])
    expect(nowhere).toMatchObject({ code: 1, output: expect.stringContaining('cannot be written (ENOENT)') })
    const full = await pushed([path, '--dry-run', '--report', '/dev/full'])
    expect(full).toMatchObject({ code: 1, output: expect.stringContaining('ENOSPC') })
  })

  test('run twice at once for the first time creates the catalogue once, and its name is trimmed', async () => {
    const path = file(GOOD)
    const both = ['Twice', ' Twice '].map((name) => pushed([path, '--catalogue', name, '--scope', 'Public']))
    expect((await Promise.all(both)).map(({ code }) => code)).toEqual([0, 0])
    const created = (await platform.calls()).filter(({ status }) => status === 201)
    // One catalogue, as the name finds below, and one import, which both carry on, or two if one came late.
    expect([2, 3]).toContain(created.length)
    expect((await pushed([path, '--catalogue', 'Twice'])).code).toBe(0)
  })

  test('is patient with a platform that fails before the import, too', async () => {
    await platform.fault('catalogues', '500', 4)
    const { code, output } = await pushed([file(GOOD), '--catalogue', 'C', '--scope', 'Public'])
    expect(output).toContain('Trying again: the API answered 500')
    expect(code).toBe(0)
  })

  test('with --strict sends nothing of a file that has bad rows', async () => {
    const { code, output } = await pushed([
      file(`${GOOD},x,1\n`),
      '--catalogue',
      'C',
      '--scope',
      'Public',
      '--strict',
    ])
    expect(code).toBe(1)
    expect(output).toContain('nothing was sent (--strict)')
    expect(await platform.calls()).toEqual([])
  })

  test('with --dry-run checks the file and sends nothing, without as much as a login', async () => {
    const { code, output } = await pushed([file(GOOD), '--dry-run'])
    expect(code).toBe(0)
    expect(output).toContain('Nothing was sent')
    expect(await platform.calls()).toEqual([])
  })

  test('asks for columns that it cannot guess, and takes them by heading or number', async () => {
    const path = file('Artikel;Text;Preis\nA1;Nail;1,50\n')
    const args = [path, '--catalogue', 'C', '--scope', 'Public']
    const refused = await pushed(args)
    expect(refused.code).toBe(1)
    expect(refused.output).toMatch(/No column looks like the code[\s\S]*1 {2}Artikel[\s\S]*--map/)
    expect(
      (await pushed([...args, '--map', 'code=Artikel', '--map', 'price=3', '--map', 'name=2'])).code,
    ).toBe(0)
    const id = (await platform.catalogueIds()).get('C') ?? ''
    expect((await platform.items(id)).get('A1')).toEqual({ code: 'A1', name: 'Nail', price: 1.5 })
    expect((await pushed([...args, '--map', 'colour=1'])).output).toContain('the fields are code')
    expect((await pushed([...args, '--map', 'code=9'])).output).toContain('no such column')
  })

  test.each([
    ['without a file', [], 'Name one price file'],
    ['without a catalogue', ['x.csv'], 'Name the --catalogue'],
    ['with an unknown option', ['x.csv', '--catalog', 'x'], "Unknown option '--catalog'"],
    [
      'with a scope that is none',
      ['x.csv', '--catalogue', 'C', '--scope', 'Secret'],
      'must be Public or Managed',
    ],
    ['with a bad batch id', ['x.csv', '--catalogue', 'C', '--batch-id', 'a b'], 'letters, digits'],
    ['with a file that is not there', ['/none.csv', '--catalogue', 'C'], 'There is no file /none.csv'],
  ])('%s says what is wrong', async (_name, args, words) => {
    const { code, output } = await pushed(args)
    expect(code).toBe(1)
    expect(output).toContain(words)
  })

  test('says what is missing when a new catalogue has no scope, and that one of another scope is not touched', async () => {
    const path = file(GOOD)
    expect((await pushed([path, '--catalogue', 'C'])).output).toContain('--scope Public or --scope Managed')
    await pushed([path, '--catalogue', 'C', '--scope', 'Managed'])
    const { code, output } = await pushed([path, '--catalogue', 'C', '--scope', 'Public'])
    expect(code).toBe(1)
    expect(output).toContain('is Managed, not Public. Nothing was sent')
    expect(await uploads()).toBe(1)
  })

  test.each([
    ['PLATFORM_API_KEY', 'refuses the email, API key or subscription key'],
    ['PLATFORM_SUBSCRIPTION_KEY', 'refuses the email, API key or subscription key'],
    ['PLATFORM_TENANT_ID', 'refuses the email, API key, subscription key or tenant'],
  ])('with a wrong %s says so and fails', async (name, words) => {
    const { code, output } = await pushed([file(GOOD), '--catalogue', 'C', '--scope', 'Public'], {
      [name]: 'wrong-secret',
    })
    expect(code).toBe(1)
    expect(output).toContain(words)
    expect(output).not.toContain('wrong-secret')
  })

  test('without settings names each one, and asks for none that it does not need', async () => {
    const program = run(
      'src/features/price-files/cli-push-catalogue.ts',
      { DATA_DIR: platform.dir },
      { args: [file(GOOD), '--catalogue', 'C'], cwd: platform.dir },
    )
    expect(await program.exited).toBe(1)
    for (const name of [
      'PLATFORM_API_URL',
      'PLATFORM_EMAIL',
      'PLATFORM_API_KEY',
      'PLATFORM_SUBSCRIPTION_KEY',
    ])
      expect(program.output()).toContain(`${name} is not set`)
    expect(program.output()).not.toMatch(/CLIENT_ID|APP_URL|AUTH_URL/)
  })

  test('fails when the platform does not complete the import', async () => {
    await platform.fault('import', 'failed', 1)
    const { code, output } = await pushed([file(GOOD), '--catalogue', 'C', '--scope', 'Public'])
    expect(code).toBe(1)
    expect(output).toContain('could not complete the import')
    expect(output).not.toContain('Completed:')
  })

  test('has its stored tokens encrypted with a new key by npm run reencrypt, and logs in no second time', async () => {
    const args = [file(GOOD), '--catalogue', 'C', '--scope', 'Public']
    await pushed(args)
    const next = `k2:${randomBytes(32).toString('base64')}`
    const rest = {
      PLATFORM_APP_URL: platform.url,
      PLATFORM_AUTH_URL: platform.url,
      PLATFORM_CLIENT_ID: 'x',
      PLATFORM_CLIENT_SECRET: 'x',
    }
    const reencrypt = run('src/cli/reencrypt.ts', {
      ...platform.env,
      ...rest,
      TOKEN_KEYS: `${next},${platform.env.TOKEN_KEYS}`,
    })
    expect(await reencrypt.exited).toBe(0)
    expect(reencrypt.output()).toContain('1 connections encrypted with the key "k2"')
    expect((await pushed(args, { TOKEN_KEYS: next })).code).toBe(0)
    expect((await platform.calls()).filter(({ endpoint }) => endpoint === 'login')).toHaveLength(1)
    const doctor = run('src/cli/doctor.ts', { ...platform.env, ...rest, TOKEN_KEYS: next })
    await doctor.exited
    expect(doctor.output()).toContain('ok    first-party access: priya@summit.example has a token')
    const wrong = run('src/cli/doctor.ts', {
      ...platform.env,
      ...rest,
      TOKEN_KEYS: next,
      PLATFORM_API_KEY: 'x',
    })
    expect(await wrong.exited).toBe(1)
    expect(wrong.output()).toContain('FAIL  first-party access: The platform refuses the email, API key')
  })

  test('prints no key and no token, whatever happens', async () => {
    const args = [file(GOOD), '--catalogue', 'C', '--scope', 'Public']
    const outputs = [(await pushed(args)).output]
    for (const [endpoint, fault] of [
      ['items', 'expired'],
      ['items', 'forbidden'],
      ['catalogues', 'forbidden'],
      ['import', 'failed'],
      ['login', 'garbage'],
    ] as const) {
      await platform.fault(endpoint, fault, endpoint === 'login' ? 1 : 2)
      if (endpoint === 'login') await platform.post('/sandbox/expire')
      // A folder of its own: a token that was just refreshed is not refreshed again for 30 s.
      outputs.push((await pushed(args, { DATA_DIR: join(platform.dir, `${endpoint}-${fault}`) })).output)
      await platform.fault(endpoint, 'none')
    }
    expect(outputs.join('\n')).not.toMatch(/sandbox-(api|subscription)-key|fp_|bearer/i)
  })

  test('acts for a tenant, and npm run tenants lists them', async () => {
    const tenants = run('src/features/first-party/cli-tenants.ts', platform.env)
    expect(await tenants.exited).toBe(0)
    const [, coast = ''] = /^(\S+) {2}Summit Coast$/m.exec(tenants.output()) ?? []
    const { code } = await pushed([
      file(GOOD),
      '--catalogue',
      'Coast list',
      '--scope',
      'Public',
      '--tenant',
      coast,
    ])
    expect(code).toBe(0)
    expect((await platform.catalogueIds()).has('Coast list')).toBe(false)
  })

  test('stopped by Ctrl-C says how to go on, and goes on with the same import', async () => {
    await platform.fault('items', '429', undefined, 1)
    const args = [file(GOOD), '--catalogue', 'C', '--scope', 'Public']
    const program = push(platform, args)
    while (!program.output().includes('trying again')) await new Promise((resolve) => setTimeout(resolve, 20))
    program.child.kill('SIGINT')
    expect(await program.exited).toBe(1)
    expect(program.output()).toContain('Run the same command again')
    const [, batch = '?'] = /Starting import (\S+)/.exec(program.output()) ?? []
    await platform.fault('items', 'none')
    const again = await pushed(args)
    expect(again.output).toContain(`Resuming import ${batch}`)
    expect(again.code).toBe(0)
    expect((await pushed(args)).output).toContain('Starting import')
  })
})

test('push-catalogue killed at 20 random moments and run again: the same items, none twice, none missing', async () => {
  const rows = 12_000
  const path = await writePriceFile(platform.dir, rows)
  const expected = Array.from({ length: rows }, (_, row) => itemOf(row))
  let interrupted = 0
  const round = async (number: number) => {
    const args = [path, '--catalogue', `C${number}`, '--scope', 'Public']
    const env = { DATA_DIR: join(platform.dir, `data-${number}`) }
    const killed = push(platform, args, env)
    // A quarter anywhere from its start on, the others while it sends or shortly after.
    const sending = number % 4 > 0
    if (sending) while (!killed.output().includes('Starting import')) await pause(2)
    await pause(Math.random() * (sending ? 600 : 1500))
    if ((await killed.kill()) === 'SIGKILL' && sending) interrupted++
    const again = push(platform, args, env)
    expect(await again.exited, again.output()).toBe(0)
    const id = (await platform.catalogueIds()).get(`C${number}`) ?? ''
    // As text: a comparison of so many objects would take longer than the import.
    const found = [...(await platform.items(id)).values()]
    const text = (items: object[]) => JSON.stringify(items, ['code', 'name', 'unit', 'category', 'price'])
    expect(text(found) === text(expected), `${found.length} items`).toBe(true)
  }
  for (let number = 0; number < 20; number += 4)
    await Promise.all([0, 1, 2, 3].map((more) => round(number + more)))
  expect(interrupted).toBeGreaterThan(5)
}, 180_000)

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('push-catalogue shows a bar on a terminal', async () => {
  const { createReporter } = await import('../../../src/features/price-files/cli-reporter.ts')
  const written: string[] = []
  const terminal = { isTTY: true, write: (text: string) => written.push(text) > 0 } as NodeJS.WriteStream
  const reporter = createReporter(terminal)
  const progress = { rows: 500, sent: 500, batches: 1, rejected: 0, processed: null, waiting: null }
  reporter.progress({ ...progress, phase: 'sending' }, { validRows: 1000 })
  reporter.step('Completed')
  expect(written.join('')).toBe(
    `\r\u001b[K[${'#'.repeat(15)}${'.'.repeat(15)}] Sent 500 of 1,000 items\nCompleted\n`,
  )
})

describe('at the platform’s limit, scaled down', () => {
  const limit = 40
  const windowMs = 2_000
  /** A platform that takes so many requests in any window and counts the rest as refused. */
  async function limited() {
    const times: number[] = []
    let refused = 0
    const server = await serve((req, res) => {
      req.resume()
      res.setHeader('content-type', 'application/json')
      if (req.url?.startsWith('/accounts'))
        return void res.end('{"accessToken":"a","refreshToken":"r","expiresIn":600}')
      const now = performance.now()
      if (times.filter((time) => time > now - windowMs).length >= limit) {
        refused++
        return void res.writeHead(429, { 'retry-after': '1' }).end()
      }
      times.push(now)
      req.on('end', () => {
        if (req.url?.startsWith('/catalogues?')) res.end('[{"id":"1","name":"C","scope":"Public"}]')
        else res.end('{"status":"Completed","batchId":"b"}')
      })
    })
    return { ...server, times, refused: () => refused }
  }

  test.each([1, 2])(
    'the whole limit is used and never hit, by %i processes with one credential',
    async (processes) => {
      const server = await limited()
      const path = await writePriceFile(platform.dir, (limit * 5 * 1000) / processes)
      const env = {
        PLATFORM_API_URL: `http://127.0.0.1:${server.port}`,
        PLATFORM_RATE_LIMIT: `${limit}/${windowMs / 1000}`,
      }
      const programs = Array.from({ length: processes }, () =>
        push(platform, [path, '--catalogue', 'C'], env),
      )
      for (const program of programs) expect(await program.exited, program.output()).toBe(0)
      expect(server.refused()).toBe(0)
      // In use to the full, each request comes one window after the one that had its permit before. The middle of
      // these cycles: a machine that stands still for a moment makes some of them longer.
      const times = server.times.toSorted((a, b) => a - b)
      const cycles = times.slice(limit).map((time, at) => time - (times[at] ?? 0))
      const used = windowMs / median(cycles)
      expect(used).toBeGreaterThanOrEqual(0.97)
      expect(used).toBeLessThanOrEqual(1)
      await server.close()
    },
  )
})
