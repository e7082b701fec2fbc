import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { platform, Vault } from '../../src/connect/index.ts'
import { appOwner, type KeyValueStore, openSqlite } from '../../src/connect/stores.ts'
import { createLog } from '../../src/runtime/log.ts'
import { tempDir, testEnv } from '../support/env.ts'
import { command as runCommand } from '../support/process.ts'
import { startTokenEndpoint, type TokenEndpoint } from '../support/token-endpoint.ts'
import { consent, GRANTED, newKey, oauthFor } from '../support/vault.ts'

const { catalogues, leads } = platform.scopes

const ANN = 'https://id.example#ann'
const KEY = newKey()
/** The kind of an entry that is stored about a user, as features do. */
const KIND = 'note-of-a-test'
const BOB = { userId: 'bob', bxcontext: 'summit' }
const SECRETS = ['access-0', 'refresh-0', KEY.secret.toString('base64')]
let temp: ReturnType<typeof tempDir>
let exports: ReturnType<typeof tempDir>
let endpoint: TokenEndpoint
beforeEach(async () => {
  temp = tempDir()
  exports = tempDir()
  endpoint = await startTokenEndpoint()
  const store = openStore()
  const vault = vaultOn(store)
  const businessName = 'Ridgeline \u001b[2J Homes'
  await consent(vault, { businessName }, { userId: ANN, bxcontext: 'ridgeline' })
  await consent(vault, {}, BOB)
  await store.set({ kind: KIND, owner: ANN, id: 'x' }, '{"gst":10}', 60_000)
  await store.close()
})
afterEach(async () => {
  await endpoint.close()
  temp.remove()
  exports.remove()
})
const openStore = () => openSqlite({ file: join(temp.dir, 'store.sqlite') })
const vaultOn = (store: KeyValueStore) =>
  new Vault({ platform, store, keys: [KEY], oauth: oauthFor(endpoint.authUrl), log: createLog('silent') })
async function command(...args: string[]): Promise<{ code: unknown; output: string }> {
  const env = testEnv({
    PLATFORM_APP_URL: endpoint.authUrl,
    PLATFORM_AUTH_URL: endpoint.authUrl,
    PLATFORM_API_URL: endpoint.authUrl,
    PLATFORM_REVOCATION_URL: `${endpoint.authUrl}/revoke`,
    TOKEN_ENCRYPTION_KEYS: `${KEY.id}:${KEY.secret.toString('base64')}`,
    DATA_DIR: temp.dir,
    PLATFORM_SCOPES: `${catalogues} ${leads}`,
  })
  const program = ['list', 'revoke'].includes(args[0] ?? '') ? 'connections' : 'users'
  const { code, output } = await runCommand(`src/cli/${program}.ts`, env, { args })
  for (const secret of SECRETS) expect(output).not.toContain(secret)
  return { code, output }
}

describe('npm run connections and npm run users', () => {
  test('reaches none of the app’s own records by a user id, whatever it is', async () => {
    const store = openStore()
    await store.set({ kind: KIND, owner: appOwner('a-part'), id: 'w1' }, '{"userId":"bob"}')
    await store.close()
    for (const name of ['all', 'app', 'a-part'])
      for (const action of [
        ['export', name],
        ['delete', name, '--yes'],
      ])
        expect(await command(...action)).toMatchObject({
          code: 1,
          output: expect.stringContaining('Nothing is stored'),
        })
    for (const action of [['export'], ['delete', '--yes'], ['sign-out'], ['revoke', 'ctx']]) {
      const [name = '', ...rest] = action
      expect(await command(name, appOwner('a-part'), ...rest)).toMatchObject({
        code: 1,
        output: expect.stringContaining('A user id is text of 1 to 1,024 characters'),
      })
    }
    const after = openStore()
    expect(await after.list(KIND, appOwner('a-part'))).toHaveLength(1)
    expect(await vaultOn(after).find(BOB)).not.toBeNull()
    await after.close()
  })

  test('export escapes every control character and every change of direction', async () => {
    const store = openStore()
    const value = JSON.stringify({ name: 'a\u009b31mb\u202ec\u007f' })
    await store.set({ kind: KIND, owner: ANN, id: 'y' }, value, 60_000)
    await store.close()
    const { output } = await command('export', ANN)
    expect(output).toContain('a\\u009b31mb\\u202ec\\u007f')
    expect(output.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })

  test('list prints every connection on a line, without control characters that a platform might send', async () => {
    const { output } = await command('list')
    expect(output).toContain(`${ANN}\tridgeline\tactive\tRidgeline  [2J Homes`)
    expect(output).toContain('bob\tsummit\tactive')
    expect(output).toContain('2 connections.')
  })

  test('a text and --status narrow the list, and --json prints objects', async () => {
    const found = await command('list', 'RIDGELINE', '--json')
    expect(found.output.trim().split('\n')).toHaveLength(1)
    expect(JSON.parse(found.output)).toMatchObject({
      userId: ANN,
      bxcontext: 'ridgeline',
      status: 'active',
      scopes: GRANTED.scopes,
    })
    expect((await command('list', '--status', 'revoked')).output).toBe('0 connections.\n')
    expect(await command('list', '--status', 'foo')).toMatchObject({ code: 1 })
  })

  test('revoke deletes the connection and ends the grant on the platform', async () => {
    endpoint.answers({ status: 200, json: {} })
    const { output } = await command('revoke', 'bob', 'summit')
    expect(output).toContain('The platform has ended the consent.')
    expect(endpoint.requests).toMatchObject([{ token: 'refresh-0', token_type_hint: 'refresh_token' }])
    expect((await command('list')).output).not.toContain('bob')
    expect(await command('revoke', 'bob', 'summit')).toMatchObject({
      code: 1,
      output: expect.stringContaining('bob has no connection to summit'),
    })
  })

  test('export writes everything that is stored about a user, without tokens, readable by its owner only', async () => {
    const file = join(exports.dir, 'ann.json')
    const { output } = await command('export', ANN, '--out', file)
    expect(output).toContain('Wrote')
    const text = readFileSync(file, 'utf8')
    for (const secret of SECRETS) expect(text).not.toContain(secret)
    expect(JSON.parse(text)).toMatchObject({
      userId: ANN,
      connections: [{ bxcontext: 'ridgeline', status: 'active' }],
      others: expect.arrayContaining([{ kind: KIND, id: 'x', value: { gst: 10 } }]),
    })
    expect(text).not.toContain('bob')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await command('export', ANN, '--out', file)).code).toBe(1)
    expect((await command('export', 'nobody')).output).toContain('Nothing is stored about nobody.')
  })

  test('delete asks for --yes, and then leaves nothing of the user, and everything of others', async () => {
    const asked = await command('delete', ANN)
    expect(asked).toMatchObject({
      code: 1,
      output: expect.stringContaining('Add --yes. Nothing was changed.'),
    })
    endpoint.answers({ status: 200, json: {} })
    expect(await command('delete', ANN, '--yes')).toMatchObject({ code: 0 })
    expect(endpoint.requests).toHaveLength(1)
    const store = openStore()
    expect(await store.list(KIND, ANN)).toEqual([])
    expect(await store.ofOwner(ANN)).toEqual([])
    expect(await vaultOn(store).find({ userId: ANN, bxcontext: 'ridgeline' })).toBeNull()
    expect(await vaultOn(store).find(BOB)).not.toBeNull()
    await store.close()
  })
})
