import { randomBytes } from 'node:crypto'
import { getHeapSnapshot, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test } from 'vitest'
import { oauthError } from '../../support/token-endpoint.ts'
import { type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup.close())

/** How many marked tokens are in this process's memory. */
async function tokensInMemory(): Promise<number> {
  // What the last answer left on the stack is gone after a turn.
  await new Promise((resolve) => setTimeout(resolve, 20))
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const found = new Set<string>()
  let rest = ''
  for await (const chunk of getHeapSnapshot()) {
    const text = rest + chunk
    for (const [match] of text.matchAll(/marked-[0-9a-f]{32}/g)) found.add(match)
    rest = text.slice(-40)
  }
  return found.size
}

/** Connects with tokens that nobody but the vault holds, and uses them once, which decrypts them. */
async function connect(expiresIn = 300): Promise<void> {
  const marked = () => `marked-${randomBytes(16).toString('hex')}`
  await setup.vault.connect('ann', 'ctx', {
    ...{ accessToken: marked(), refreshToken: marked(), expiresIn, scopes: undefined },
  })
  await setup.vault.accessToken('ann', 'ctx')
}

test('tokens are forgotten at disconnect', async () => {
  setup = await vaultSetup()
  await connect()
  expect(await tokensInMemory()).toBe(2)
  await setup.vault.disconnect('ann', 'ctx')
  expect(await tokensInMemory()).toBe(0)
})

test('tokens are forgotten at a disconnect by another process, once it is noticed', async () => {
  setup = await vaultSetup()
  await connect()
  await setup.anotherVault().disconnect('ann', 'ctx')
  await setup.vault.accessToken('ann', 'ctx').catch(() => {})
  expect(await tokensInMemory()).toBe(0)
})

test('tokens are forgotten at revocation', async () => {
  setup = await vaultSetup()
  await connect()
  setup.later(301)
  setup.endpoint.answers(oauthError('invalid_grant'))
  await setup.vault.accessToken('ann', 'ctx').catch(() => {})
  // The endpoint is in this process as well, and remembers what it was sent.
  setup.endpoint.requests.length = 0
  expect(await tokensInMemory()).toBe(0)
})

test('tokens are forgotten when a new consent replaces them', async () => {
  setup = await vaultSetup()
  await connect()
  await connect()
  expect(await tokensInMemory()).toBe(2)
})
