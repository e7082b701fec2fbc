import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { command } from '../../support/process.ts'
import { fileIn, GOOD, pushed, SCRIPT, withLayout } from './push-support.ts'
import { type SupplierPlatform, startPlatform } from './support.ts'

let platform: SupplierPlatform
let file: string
beforeAll(async () => {
  platform = await startPlatform()
  file = fileIn(platform, GOOD)
})
afterAll(() => platform.close())

/** Runs the command without settings. */
function withoutSettings(args: string[], env: Record<string, string> = {}) {
  return command(SCRIPT, env, { args: withLayout(args), cwd: platform.dir })
}

describe('push-catalogue without settings', () => {
  test('explains itself with --help', async () => {
    const { code, output } = await withoutSettings(['--help'])
    expect(code).toBe(0)
    expect(output).toMatch(/^Usage: npm run feature -- price-files push-catalogue [\s\S]*--dry-run/)
  })

  test.each([
    ['that there is no file', [], "missing required argument 'file'"],
    ['that there is no catalogue', ['x.csv'], "'--catalogue <name>' or '--catalogue-id <id>'"],
    ['which option is unknown', ['x.csv', '--catalog', 'x'], "unknown option '--catalog'"],
    ['that there are two files', ['x.csv', 'y.csv', '--catalogue', 'C'], 'too many arguments'],
    [
      'which scopes there are',
      ['x.csv', '--catalogue', 'C', '--scope', 'Secret'],
      'Allowed choices are Public, Managed',
    ],
    ['that the file does not exist', ['/none.csv', '--catalogue', 'C'], 'The file /none.csv does not exist.'],
  ])('says %s', async (_name, args, words) => {
    const { code, output } = await withoutSettings(args)
    expect(code).toBe(1)
    expect(output).toContain(words)
  })

  test('names each setting that it needs, and no other', async () => {
    const { code, output } = await withoutSettings([file, '--catalogue', 'C'], { DATA_DIR: platform.dir })
    expect(code).toBe(1)
    for (const name of ['API_URL', 'API_EMAIL', 'API_KEY', 'SUBSCRIPTION_KEY'])
      expect(output).toContain(`PLATFORM_${name} is required`)
    expect(output).not.toMatch(/CLIENT_ID|APP_URL|AUTH_URL/)
  })

  test('uses the running sandbox with --demo', async () => {
    const env = { DATA_DIR: platform.dir, SANDBOX_URL: platform.url }
    const args = [file, '--catalogue', 'Demo', '--scope', 'Public', '--demo']
    expect(await withoutSettings(args, env)).toMatchObject({
      code: 0,
      output: expect.stringContaining('Completed'),
    })
    expect((await platform.catalogueIds()).has('Demo')).toBe(true)
  })

  test('reads them from the .env of its folder', async () => {
    const settings = Object.entries(platform.env).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(join(platform.dir, '.env'), settings.join(''))
    const { code, output } = await withoutSettings([file, '--catalogue', 'Env', '--scope', 'Public'])
    rmSync(join(platform.dir, '.env'))
    expect(code, output).toBe(0)
  })
})

test.each([
  ['PLATFORM_API_KEY', 'rejected the email, API key or subscription key'],
  ['PLATFORM_TENANT_ID', 'rejected the email, API key, subscription key or tenant'],
])('push-catalogue with a wrong %s says so, and does not repeat it', async (name, words) => {
  const args = [file, '--catalogue', 'C', '--scope', 'Public']
  const { code, output } = await pushed(platform, args, { [name]: 'wrong-secret' })
  expect(code).toBe(1)
  expect(output).toContain(words)
  expect(output).not.toContain('wrong-secret')
})
