import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  platform,
  reencrypt,
  type Tokens,
  type Vault,
  type VaultOptions,
} from '../../../src/connect/index.ts'
import { createFaultyStore } from '../../support/faulty-store.ts'
import { oauthError, type Scripted, tokens } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  consent,
  eventsDuring,
  GRANTED,
  newKey,
  REF,
  refusingStore,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const ROTATING = { ...platform, refreshTokens: 'rotated', tokenEndpointMs: 30_000 } as const
const NEWER = { accessToken: 'newer', refreshToken: 'refresh-newer' }

/** A step that waits until the test lets it go on. */
function gate() {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    open: () => opened.resolve(),
    async pass() {
      reached.resolve()
      await opened.promise
    },
  }
}

/** A consent whose code was sent, and whose answer comes when the test opens the gate. */
async function slowConsent(vault: Vault, granted: Partial<Tokens> = {}) {
  const answer = gate()
  const outcome = vault.connect(REF, async () => {
    await answer.pass()
    return { ...GRANTED, ...granted }
  })
  await answer.reached
  return {
    finish: () => {
      answer.open()
      return outcome
    },
  }
}

/** Runs `meanwhile` while a refresh of an expired token is in flight, which is then answered with `answer`. */
async function refreshWhile(
  answer: Scripted,
  meanwhile: () => Promise<unknown>,
  options: Partial<VaultOptions> = {},
): Promise<PromiseSettledResult<string> | undefined> {
  setup = await connectedSetup(options)
  setup.later(301)
  const asked = gate()
  setup.endpoint.answers(async (res) => {
    await asked.pass()
    const { status = 200, json } = typeof answer === 'function' ? {} : answer
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
  })
  const refreshing = Promise.allSettled([setup.token()])
  await asked.reached
  await meanwhile()
  asked.open()
  const [result] = await refreshing
  return result
}

describe('while a refresh of an earlier consent is in flight', () => {
  const consentElsewhere = () => consent(setup.anotherVault(), NEWER)

  test.each([
    ['succeeds', tokens()],
    ['is answered with invalid_grant', oauthError('invalid_grant')],
    ['is refused', oauthError('invalid_request')],
    ['fails', { status: 503, json: {} }],
  ])('a new consent stays although the refresh %s, and the caller gets its token', async (_what, answer) => {
    const result = await refreshWhile(answer, consentElsewhere)
    expect(result).toMatchObject({ value: 'newer' })
    expect(await setup.token()).toBe('newer')
    expect(await setup.vault.find(REF)).toMatchObject({ view: { state: 'active' } })
  })

  test('a re-encryption loses neither the new token nor the record', async () => {
    const keys = [newKey('old'), newKey('new')] as const
    const rotate = () => Array.fromAsync(reencrypt(setup.store, [keys[1], keys[0]]))
    const result = await refreshWhile(tokens({ access_token: 'next' }), rotate, { keys })
    expect(result).toMatchObject({ value: 'next' })
    expect(await setup.token()).toBe('next')
  })
})

test('of two consents, the one that began later stays, although the earlier one is stored after it, and whatever the clocks of their machines say', async () => {
  setup = await vaultSetup()
  const earlier = await slowConsent(setup.anotherVault({ now: () => Date.now() + 3_600_000 }))
  await consent(setup.anotherVault({ now: () => Date.now() - 3_600_000 }), NEWER)
  expect(await earlier.finish()).toBe('connected')
  expect(await setup.anotherVault({ now: () => Date.now() - 3_600_000 }).accessToken(REF)).toBe('newer')
})

describe('a disconnect', () => {
  test('in a store that refuses writes and deletes stays although the code of a consent was sent before it', async () => {
    const { store, refuses } = refusingStore()
    setup = await connectedSetup({ store })
    const earlier = await slowConsent(setup.vault, NEWER)
    refuses.writes = true
    const other = setup.anotherVault()
    expect(await eventsDuring(other, () => other.disconnect(REF))).toEqual(['disconnected'])
    refuses.writes = false
    expect(await earlier.finish()).toBe('superseded')
    expect(await setup.vault.find(REF)).toBeNull()
  })

  test('in such a store keeps the next consent from a late answer to a refresh of the former one', async () => {
    const { store, refuses } = refusingStore()
    const result = await refreshWhile(
      oauthError('invalid_grant'),
      async () => {
        refuses.writes = true
        await setup.anotherVault().disconnect(REF)
        refuses.writes = false
        await consent(setup.anotherVault(), NEWER)
      },
      { store },
    )
    expect(result).toMatchObject({ value: 'newer' })
    expect(await setup.token()).toBe('newer')
  })
})

test.each([
  ['the tokens of a refresh', tokens({ access_token: 'next' }), { value: 'next' }],
  ['the end of access', oauthError('invalid_grant'), { reason: { code: 'connection_revoked' } }],
])(
  'a store that refuses writes for a while gets %s; until then, callers get 503',
  async (_what, answer, result) => {
    const { store, refuses } = refusingStore()
    const refuse = async () => {
      refuses.writes = true
    }
    const first = await refreshWhile(answer, refuse, { store })
    expect(first).toMatchObject({ reason: { code: 'store_unavailable' } })
    refuses.writes = false
    await setup.vault.idle()
    expect(await Promise.allSettled([setup.token()])).toMatchObject([result])
    expect(setup.endpoint.requests).toHaveLength(1)
  },
)

test('a consent that begins while the process stops does not send its code', async () => {
  const { store } = createFaultyStore()
  setup = await vaultSetup({ store })
  const begun = gate()
  vi.spyOn(store, 'get').mockImplementationOnce(async () => {
    await begun.pass()
    return null
  })
  const send = vi.fn(async () => GRANTED)
  const connecting = setup.vault.connect(REF, send).catch((error: unknown) => error)
  await begun.reached
  const closed = setup.vault.close(1_000)
  begun.open()
  await closed
  expect(await connecting).toMatchObject({ code: 'platform_unavailable' })
  expect(send).not.toHaveBeenCalled()
})

describe('a holder of the lease', () => {
  /** A holder that sends a request and is gone before the answer. */
  async function goneHolder(options: Partial<VaultOptions> = {}) {
    const holder = setup.anotherVault(options)
    const asked = gate()
    setup.endpoint.answers(
      async (res) => {
        await asked.pass()
        res.destroy()
      },
      tokens({ access_token: 'next' }),
    )
    const lost = holder.accessToken(REF).catch(() => {})
    await asked.reached
    return async () => {
      asked.open()
      await lost
    }
  }

  /** A caller that waits only a moment. */
  const impatient = () => setup.anotherVault({ waitMs: 50 }).accessToken(REF)

  test.each([
    ['9 s', platform, 9, 2],
    ['as long as the token endpoint may take, if refresh tokens rotate', ROTATING, 35, 10],
  ])('that was killed delays the others for %s, and not much longer', async (_what, of, heldS, longerS) => {
    setup = await connectedSetup({ platform: of })
    setup.later(301)
    const end = await goneHolder()
    setup.later(heldS)
    await expect(impatient()).rejects.toMatchObject({ code: 'platform_unavailable' })
    setup.later(longerS)
    expect(await setup.token()).toBe('next')
    await end()
    expect(await setup.token()).toBe('next')
  })

  test('has no successor in a process that stops: what has waited for the lease is not sent', async () => {
    setup = await connectedSetup()
    setup.later(301)
    const end = await goneHolder()
    const waiting = setup.token().catch((error: unknown) => error)
    await setup.vault.close(1_000)
    await end()
    setup.later(60)
    expect(await waiting).toMatchObject({ code: 'platform_unavailable' })
    expect(setup.endpoint.requests).toHaveLength(1)
  })

  test('that took it while its process began to stop sends nothing, and leaves it to the next one', async () => {
    const { store } = createFaultyStore()
    setup = await connectedSetup({ store })
    setup.later(301)
    const taken = gate()
    const write = store.compareAndSet
    vi.spyOn(store, 'compareAndSet').mockImplementationOnce(async (...args) => {
      const isTaken = await write(...args)
      await taken.pass()
      return isTaken
    })
    const refreshing = setup.token().catch((error: unknown) => error)
    await taken.reached
    const closed = setup.vault.close(10_000)
    taken.open()
    await closed
    expect(await refreshing).toMatchObject({ code: 'platform_unavailable' })
    expect(setup.endpoint.requests).toEqual([])
    setup.endpoint.answers(tokens({ access_token: 'next' }))
    expect(await setup.anotherVault().accessToken(REF)).toBe('next')
  })

  test('whose lease is over ends nothing newer with its late invalid_grant', async () => {
    const result = await refreshWhile(oauthError('invalid_grant'), async () => {
      setup.later(11)
      setup.endpoint.answers(tokens({ access_token: 'fast' }))
      expect(await setup.anotherVault().accessToken(REF)).toBe('fast')
    })
    expect(result).toMatchObject({ value: 'fast' })
    expect(await setup.token()).toBe('fast')
  })
})

describe('a burst of invalid_grant on a platform that rotates refresh tokens', () => {
  /** Many callers in two processes, and a button in each. Resolves to their results. */
  function everybody() {
    const vaults = [setup.vault, setup.anotherVault()]
    const asks = vaults.flatMap((vault) => [
      ...Array.from({ length: 10 }, () => vault.accessToken(REF)),
      vault.refresh(REF),
      vault.tokenSource(REF).refresh('access-0'),
    ])
    return Promise.all(asks.map((ask) => ask.then(String, ({ code }: { code: string }) => code)))
  }

  test('loses no token, although two processes and their buttons ask during it', async () => {
    setup = await connectedSetup({ platform: ROTATING })
    setup.later(301)
    setup.endpoint.answers(oauthError('invalid_grant'))
    for (const seconds of [0, 6, 20, 33]) {
      setup.later(seconds)
      expect(new Set(await everybody())).toEqual(new Set(['connection_revoked']))
    }
    expect(await setup.vault.find(REF)).toMatchObject({ tokens: { refreshes: 0 } })
    setup.later(1)
    setup.endpoint.answers(tokens({ access_token: 'next', refresh_token: 'refresh-1' }))
    const calls = [setup.token(), setup.anotherVault().accessToken(REF), setup.token()]
    expect(await Promise.all(calls)).toEqual(['next', 'next', 'next'])
    expect(new Set(setup.sent())).toEqual(new Set(['refresh-0']))
    setup.later(301)
    await setup.token()
    expect(setup.sent().at(-1)).toBe('refresh-1')
  })
})

test('50 callers of four vaults cause one request, and all get its token', async () => {
  setup = await connectedSetup()
  setup.later(301)
  setup.endpoint.answers(tokens({ access_token: 'next' }))
  const vaults = [setup.vault, setup.anotherVault(), setup.anotherVault(), setup.anotherVault()]
  const calls = Array.from({ length: 50 }, (_, index) => vaults[index % 4]?.accessToken(REF))
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['next']))
  expect(setup.endpoint.requests).toHaveLength(1)
})

test('a machine whose clock is an hour ahead ends no connection without a refresh token for the others', async () => {
  setup = await vaultSetup()
  await setup.vault.connect(REF, async () => ({ ...GRANTED, refreshToken: undefined, expiresIn: 1_800 }))
  const ahead = setup.anotherVault({ now: () => Date.now() + 3_600_000 })
  await expect(ahead.accessToken(REF)).rejects.toMatchObject({ code: 'connection_revoked' })
  expect(await setup.token()).toBe('access-0')
})

test('a machine whose clock is an hour ahead refreshes more often, and no token is lost', async () => {
  setup = await connectedSetup()
  const ahead = setup.anotherVault({ now: () => Date.now() + 3_600_000 })
  setup.endpoint.answers(tokens({ access_token: 'next' }))
  expect(await ahead.accessToken(REF)).toBe('next')
  expect(await setup.token()).toBe('next')
})
