import { describe, expect, onTestFinished, test } from 'vitest'
import { isForDemo, loadEnvFile, missingSandboxEnv } from '../../src/runtime/load-env-file.ts'
import { configOf } from '../../src/runtime/run-app.ts'
import { sandboxSettings } from '../../src/runtime/run-sandbox.ts'
import { storeSettings } from '../../src/settings/config.ts'
import { localUrl } from '../../src/settings/fields.ts'
import { tempDir, testEnv } from '../support/env.ts'

test('a blank variable is unset for the sandbox as well', async () => {
  const names = ['PLATFORM_CLIENT_ID', 'PLATFORM_CLIENT_SECRET', 'SANDBOX_URL', 'DATA_DIR']
  const blank = Object.fromEntries(names.map((name) => [name, ' ']))
  expect(JSON.stringify(await sandboxSettings(blank))).toBe(JSON.stringify(await sandboxSettings({})))
})

describe('the platform’s addresses', () => {
  test('follow SANDBOX_PORT, and the app’s follow PORT', async () => {
    const env = { PORT: '3100', SANDBOX_PORT: '4500' }
    const config = configOf({ ...testEnv(env), ...missingSandboxEnv(env) }, [])
    expect(config.baseUrl).toBe('http://localhost:3100')
    expect(config.platform).toMatchObject({
      appUrl: 'http://localhost:4500',
      authUrl: 'http://localhost:4500/auth',
      apiUrl: 'http://localhost:4500/api',
      sandboxUrl: (await sandboxSettings(env)).url,
    })
  })

  test('follow SANDBOX_URL if browsers reach the sandbox elsewhere', () => {
    const env = { SANDBOX_PORT: '4500', SANDBOX_URL: 'https://sandbox.example/' }
    expect(
      missingSandboxEnv({ ...env, PLATFORM_INTERNAL_URLS: 'https://a.example=https://b.example' }),
    ).toMatchObject({
      PLATFORM_API_URL: 'https://sandbox.example/api',
      PLATFORM_INTERNAL_URLS:
        'https://a.example=https://b.example,https://sandbox.example=http://localhost:4500',
    })
  })

  test('are in a Codespace those of its ports for browsers, and this machine for the app', async () => {
    const env = { PORT: '3100', SANDBOX_PORT: '4500', CODESPACE_NAME: 'box' }
    const { baseUrl, demoAllowRemote, platform } = configOf(
      { ...testEnv(env), ...missingSandboxEnv(env) },
      [],
    )
    expect(baseUrl).toBe('https://box-3100.app.github.dev')
    expect(demoAllowRemote).toBe(true)
    expect(platform).toMatchObject({
      authUrl: 'https://box-4500.app.github.dev/auth',
      sandboxUrl: (await sandboxSettings(env)).url,
      internalUrls: { 'https://box-4500.app.github.dev': 'http://localhost:4500' },
    })
  })

  test('that the sandbox calls, such as the app’s webhook, are on this machine in a Codespace', async () => {
    const { appUrl, features } = await sandboxSettings({ CODESPACE_NAME: 'box' })
    expect(appUrl).toBe('https://box-3000.app.github.dev')
    expect(JSON.stringify(features)).not.toContain(appUrl)
  })

  test.each([
    [undefined, 'http://localhost:4400'],
    ['0.0.0.0', 'http://localhost:4400'],
    ['::', 'http://localhost:4400'],
    ['192.0.2.7', 'http://192.0.2.7:4400'],
    ['::1', 'http://[::1]:4400'],
  ])('of this machine are where HOST=%s listens', (HOST, address) => {
    expect(localUrl({ HOST }, 4400)).toBe(address)
  })

  test.each([
    [{ PLATFORM_API_URL: 'https://api.example' }],
    [{ NODE_ENV: 'production' }],
    [{ SANDBOX_PORT: ' ' }],
  ])('are not the sandbox’s with %j', (env) => {
    expect(missingSandboxEnv({ SANDBOX_PORT: '4400', ...env })).toEqual({})
  })
})

test('commands work on the data of the demo if nothing names another platform, and never in production', () => {
  const ports = { PORT: '3100', SANDBOX_PORT: '4500' }
  for (const env of [{}, ports, { ...ports, ...missingSandboxEnv(ports) }]) {
    expect(isForDemo(env)).toBe(true)
    expect(isForDemo({ ...env, NODE_ENV: 'production' })).toBe(false)
    for (const name of ['PLATFORM_CLIENT_ID', 'PLATFORM_APP_URL', 'PLATFORM_API_URL'])
      expect(isForDemo({ ...env, [name]: 'https://api.example' }), name).toBe(false)
  }
})

/** Works in a folder with this `.env` until the end of the test. */
function inFolderWith(content: string | Buffer): void {
  const [folder, cwd, usual] = [tempDir(), process.cwd(), { ...process.env }]
  onTestFinished(() => {
    process.chdir(cwd)
    Object.assign(process.env, usual)
    folder.remove()
  })
  folder.write(content, '.env')
  process.chdir(folder.dir)
}

describe('.env', () => {
  const OF_SANDBOX = 'SANDBOX_PORT=1\r\nA_KEY=z\r\n'
  const OF_ANOTHER = `PORT=2\n${OF_SANDBOX}PLATFORM_API_URL=https://api.example\n`

  test.each<[string, { demo: boolean }, string, string[]]>([
    [
      'of another platform gives the demo the ports, and nothing else',
      { demo: true },
      OF_ANOTHER,
      ['PORT', 'SANDBOX_PORT'],
    ],
    [
      'for the sandbox gives the demo all but the place of the data and its keys',
      { demo: true },
      `${OF_SANDBOX}DATA_DIR=.mine\nREDIS_URL=redis://mine\nTOKEN_ENCRYPTION_KEYS=k1:x\n`,
      ['SANDBOX_PORT', 'A_KEY'],
    ],
    [
      'that begins with a byte order mark counts from its first line',
      { demo: false },
      `\uFEFF${OF_SANDBOX}`,
      ['SANDBOX_PORT', 'A_KEY'],
    ],
  ])('%s', (_what, options, content, names) => {
    inFolderWith(content)
    onTestFinished(() => {
      for (const name of [...names, 'DATA_DIR']) delete process.env[name]
    })
    expect(loadEnvFile(options)).toEqual(names)
    expect(process.env).toMatchObject({ SANDBOX_PORT: '1' })
  })

  test.each([OF_ANOTHER, OF_SANDBOX, `${OF_SANDBOX}DATA_DIR=.mine\n`])(
    'cannot give the demo the folder of a product: %j',
    (content) => {
      inFolderWith(content)
      onTestFinished(() => {
        for (const name of ['DATA_DIR', 'PORT', 'SANDBOX_PORT', 'A_KEY']) delete process.env[name]
      })
      loadEnvFile({ demo: true })
      const ofDemo = process.env.DATA_DIR
      delete process.env.DATA_DIR
      loadEnvFile({ demo: false })
      expect(ofDemo).not.toBe(process.env.DATA_DIR ?? storeSettings({}).shape.dataDir.parse(undefined))
    },
  )

  test.each(['\uFEFF', ''])('in UTF-16, with %j at its start, is named as such', (mark) => {
    inFolderWith(Buffer.from(`${mark}${OF_SANDBOX}`, 'utf16le'))
    expect(() => loadEnvFile({ demo: false })).toThrow('.env is in UTF-16: save it as UTF-8')
  })
})
