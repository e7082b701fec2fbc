import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Finding } from '../../../src/web/kit.ts'
import { tempDir, testEnv } from '../../support/env.ts'
import { type OtherPlatform, startOtherPlatform } from '../../support/other-platform.ts'
import { command } from '../../support/process.ts'

const SCRIPT = 'src/features/first-contact/cli-doctor.ts'

let platform: OtherPlatform
let temp: ReturnType<typeof tempDir>
let env: Record<string, string>
beforeAll(async () => {
  platform = await startOtherPlatform()
  temp = tempDir()
  env = { ...testEnv(platform.env), DATA_DIR: join(temp.dir, 'data') }
})
afterAll(async () => {
  await platform.close()
  temp.remove()
})

const doctor = (settings: Record<string, string>, ...args: string[]) =>
  command(SCRIPT, settings, { args, cwd: temp.dir })

describe('npm run doctor', () => {
  test('prints one line for each finding and exits with 0 if all is well', async () => {
    const { code, output } = await doctor(env)
    expect(code).toBe(0)
    expect(output.trim().split('\n')).toHaveLength(8)
    expect(output.match(/^ok /gm)).toHaveLength(8)
  })

  test('exits with 1 on a failure, with its id', async () => {
    const { code, output } = await doctor({ ...env, PLATFORM_CLIENT_SECRET: 'wrong' })
    expect(code).toBe(1)
    expect(output).toMatch(/^FAIL {2}PLATFORM_CLIENT_SECRET: .*\[token\.client-secret\]$/m)
  })

  test('exits with 0 on a warning, and with 2 if it is strict', async () => {
    const warned = { ...env, PLATFORM_PKCE: 'false' }
    const [usual, strict] = await Promise.all([doctor(warned), doctor(warned, '--strict')])
    expect([usual.code, strict.code]).toEqual([0, 2])
    expect(strict.output).toMatch(/^warn {2}PLATFORM_PKCE: .*\[pkce\.off\]$/m)
  })

  test('warns of a name in .env that is no setting', async () => {
    const folder = tempDir()
    writeFileSync(join(folder.dir, '.env'), 'SESION_SECRET=x\n')
    const { output } = await command(SCRIPT, env, { cwd: folder.dir })
    folder.remove()
    expect(output).toMatch(/^warn {2}SESION_SECRET: .*\[unknown-setting\]$/m)
  })

  test('prints findings as JSON, and nothing else', async () => {
    const { code, output } = await doctor({ ...env, PLATFORM_CLIENT_ID: 'someone' }, '--json')
    expect(code).toBe(1)
    const found: Finding[] = JSON.parse(output)
    expect(found.filter(({ status }) => status === 'failure')).toEqual([
      {
        id: 'consent.client-id',
        status: 'failure',
        setting: 'PLATFORM_CLIENT_ID',
        text: expect.stringContaining('the client id someone'),
      },
    ])
  })

  test('names every setting that is wrong or missing, and does not mention a missing .env', async () => {
    const { PLATFORM_CLIENT_ID, ...rest } = env
    const { code, output } = await doctor({ ...rest, PORT: 'x', PLATFORM_PKCE: 'maybe' })
    expect(code).toBe(1)
    for (const name of ['PLATFORM_CLIENT_ID', 'PORT', 'PLATFORM_PKCE'])
      expect(output).toMatch(new RegExp(`^FAIL {2}${name} .*\\[settings\\]$`, 'm'))
    expect(output).not.toMatch(/\.env not found/)
    const packageJson = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
    expect(packageJson).not.toContain('--env-file')
  })

  test('checks the platform even if the store cannot be opened, which names DATA_DIR', async () => {
    const file = join(temp.dir, 'a-file')
    writeFileSync(file, '')
    const { code, output } = await doctor({ ...env, DATA_DIR: file })
    expect(code).toBe(1)
    expect(output).toMatch(/^FAIL {2}DATA_DIR: .*\[store\.not-opened\]$/m)
    expect(output).toMatch(/^ok {4}PLATFORM_API_URL/m)
  })

  test('refuses an option that it does not know', async () => {
    expect((await doctor(env, '--verbose')).code).toBe(1)
  })
})
