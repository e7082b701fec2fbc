/** The API answers 401 to a token that should be valid. */
import { afterEach, describe, expect, test } from 'vitest'
import { tokens, tokensAfter } from '../../support/token-endpoint.ts'
import { connectedSetup, expiredSetup, REF, type VaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

/** Does the same as the API client after a 401 to this token. */
const after401 = (rejected: string, vault = setup.vault) => vault.tokenSource(REF).refresh(rejected)
/** A call that the API rejects, whatever its token is. Resolves to its error. */
const rejectedCall = async (vault = setup.vault) =>
  after401(await vault.accessToken(REF), vault).catch((error: unknown) => error)

test('a rejected token is refreshed once for all callers, early and late ones', async () => {
  setup = await connectedSetup()
  setup.endpoint.answers(tokens({ access_token: 'next' }))
  const calls = Array.from({ length: 20 }, () => after401('access-0'))
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['next']))
  expect(await after401('access-0')).toBe('next')
  expect(setup.sent()).toHaveLength(1)
})

test('a connection is refreshed once in 5 s among all processes, however often the API answers 401', async () => {
  setup = await connectedSetup()
  const other = setup.anotherVault()
  for (let interval = 1; interval < 4; interval++) {
    for (let call = 0; call < 10; call++) await Promise.all([rejectedCall(), rejectedCall(other)])
    expect(setup.sent()).toHaveLength(interval)
    expect(await rejectedCall()).toMatchObject({ code: 'platform_unavailable', retryAfterMs: 5_000 })
    setup.later(5)
  }
})

describe('a token that has expired is not handed out', () => {
  const expired = { code: 'platform_unavailable', status: 503 }

  test('instead of a token that the API rejected, although it is newer', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(tokens({ access_token: 'newer' }), tokens({ access_token: 'next' }))
    await setup.vault.refresh(REF)
    setup.later(301)
    expect(await after401('access-0')).toBe('next')
  })

  test('although it was just refreshed: the caller reads when to ask again', async () => {
    setup = await expiredSetup()
    setup.endpoint.answers(tokens({ access_token: 'short', expires_in: 1 }), tokens({ access_token: 'next' }))
    expect(await setup.token()).toBe('short')
    setup.later(2)
    for (const ask of [setup.token, () => after401('access-0')])
      await expect(ask()).rejects.toMatchObject({ ...expired, retryAfterMs: 3_000 })
    setup.later(3)
    expect(await after401('access-0')).toBe('next')
  })

  test('although another process refreshed it while this one waited', async () => {
    setup = await expiredSetup()
    const answered = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const answer = () => {
      asked.resolve()
      return answered.promise
    }
    setup.endpoint.answers(tokensAfter(answer, { access_token: 'short', expires_in: 1 }))
    const other = setup.anotherVault().accessToken(REF)
    await asked.promise
    // The clock of this process is a few seconds ahead of the other one's.
    const waiting = setup.anotherVault({ now: () => setup.now() + 3_000 }).accessToken(REF)
    answered.resolve()
    expect(await other).toBe('short')
    await expect(waiting).rejects.toMatchObject(expired)
  })
})

test('a person may refresh once in 5 s, and the error says when the next time is', async () => {
  setup = await connectedSetup()
  expect(await setup.vault.refresh(REF)).toBe(true)
  setup.later(1)
  const tooSoon = { code: 'refresh_too_soon', status: 429, retryAfterMs: 4_000 }
  await expect(setup.anotherVault().refresh(REF)).rejects.toMatchObject(tooSoon)
  expect(await setup.vault.find(REF)).toMatchObject({ tokens: { refreshableInMs: 4_000 } })
  setup.later(4)
  expect(await setup.vault.refresh(REF)).toBe(true)
})
