import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { getHeapSnapshot, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test } from 'vitest'
import { oauthError } from '../../support/token-endpoint.ts'
import { REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup.close())

/** Counts the marked tokens in this process's memory. */
async function tokensInMemory(): Promise<number> {
  // The stack no longer references the last answer after a turn of the event loop.
  await pause(20)
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const found = new Set<string>()
  let tail = ''
  for await (const chunk of getHeapSnapshot()) {
    const text = tail + chunk
    for (const [match] of text.matchAll(/marked-[0-9a-f]{32}/g)) found.add(match)
    tail = text.slice(-40)
  }
  return found.size
}

/** Connects with tokens that only the vault holds, and uses them once, which decrypts them. */
async function connect(expiresIn = 300): Promise<void> {
  const marked = () => `marked-${randomBytes(16).toString('hex')}`
  await setup.vault.connect(REF, {
    accessToken: marked(),
    refreshToken: marked(),
    expiresIn,
    scopes: undefined,
  })
  await setup.vault.accessToken(REF)
}

test('tokens leave the memory at disconnect', async () => {
  setup = await vaultSetup()
  await connect()
  expect(await tokensInMemory()).toBe(2)
  await setup.vault.disconnect(REF)
  expect(await tokensInMemory()).toBe(0)
})

test('tokens leave the memory after a disconnect by another process, at the next call', async () => {
  setup = await vaultSetup()
  await connect()
  await setup.anotherVault().disconnect(REF)
  await setup.vault.accessToken(REF).catch(() => {})
  expect(await tokensInMemory()).toBe(0)
})

test('tokens leave the memory at revocation', async () => {
  setup = await vaultSetup()
  await connect()
  setup.later(301)
  setup.endpoint.answers(oauthError('invalid_grant'))
  await setup.vault.accessToken(REF).catch(() => {})
  // The endpoint runs in this process too, and holds the requests.
  setup.endpoint.requests.length = 0
  expect(await tokensInMemory()).toBe(0)
})

test('tokens leave the memory when a new consent replaces them', async () => {
  setup = await vaultSetup()
  await connect()
  await connect()
  expect(await tokensInMemory()).toBe(2)
})
