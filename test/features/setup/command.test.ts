import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tempDir, testEnv } from '../../support/env.ts'
import { type OtherPlatform, startOtherPlatform } from '../../support/other-platform.ts'
import { command } from '../../support/process.ts'

const SCRIPT = 'src/features/setup/cli-doctor.ts'

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

  test('exits with 0 on a warning, such as of a name that is no setting, and with 2 if it is strict', async () => {
    const warned = { ...env, PLATFORM_PKCE: 'false', OIDC_CLIENT: 'x' }
    expect((await doctor(warned)).code).toBe(0)
    const { code, output } = await doctor(warned, '--strict')
    expect(code).toBe(2)
    expect(output).toMatch(/^warn {2}PLATFORM_PKCE: .*\[pkce\.off\]$/m)
    expect(output).toMatch(/^warn {2}OIDC_CLIENT: .*\[unknown-setting\]$/m)
  })

  test('warns that a proxy is in front of an https address if TRUST_PROXY is 0', async () => {
    const behindProxy = { ...env, BASE_URL: 'https://app.example' }
    expect((await doctor(behindProxy)).output).toMatch(/^warn {2}TRUST_PROXY: .*\[trust-proxy\]$/m)
    expect((await doctor({ ...behindProxy, TRUST_PROXY: '1' })).output).not.toContain('[trust-proxy]')
  })

  test('exits with 1 on a failure, with its id; the platform is checked even if the store cannot be opened', async () => {
    const file = join(temp.dir, 'a-file')
    writeFileSync(file, '')
    const { code, output } = await doctor({
      ...env,
      PLATFORM_CLIENT_SECRET: 'wrong',
      DATA_DIR: join(file, 'data'),
    })
    expect(code).toBe(1)
    expect(output).toMatch(/^FAIL {2}PLATFORM_CLIENT_SECRET: .*\[token\.client-secret\]$/m)
    expect(output).toMatch(/^FAIL {2}DATA_DIR: .*\[store\.not-opened\]$/m)
    expect(output).toMatch(/^ok {4}PLATFORM_API_URL/m)
  })

  test('names every setting that is wrong or missing', async () => {
    const { PLATFORM_CLIENT_ID, ...rest } = env
    const { code, output } = await doctor({ ...rest, PORT: 'x', PLATFORM_PKCE: 'maybe' })
    expect(code).toBe(1)
    for (const name of ['PLATFORM_CLIENT_ID', 'PORT', 'PLATFORM_PKCE'])
      expect(output).toMatch(new RegExp(`^FAIL {2}${name} .*\\[settings\\]$`, 'm'))
  })

  test.each([[['--verbose']], [['--write']]])('refuses %j', async (args) => {
    const { code, output } = await doctor(env, ...args)
    expect(code).toBe(1)
    expect(output).toMatch(/^error: .*option/m)
  })
})
