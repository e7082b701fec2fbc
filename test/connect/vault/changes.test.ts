/** What the log and the listeners learn of the changes of a connection. */
import { afterEach, expect, test } from 'vitest'
import { createFaultyStore } from '../../support/faulty-store.ts'
import { oauthError, tokens } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  consent,
  eventsDuring,
  newKey,
  REF,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

/** The lines of the log, without what each line has. */
const logged = () =>
  setup.logLines.map((line) => {
    const { level, msg, consent: number, reason, expiresAt, name } = JSON.parse(line)
    return { level, msg, consent: number, reason, expiresAt, name }
  })
const connected = { level: 'info', msg: 'account connected', consent: expect.any(Number) }

test('a consent, the end of access and a disconnect are logged with the number of the consent, and a refresh is not', async () => {
  setup = await connectedSetup()
  const about = { consent: (await setup.vault.find(REF))?.consent }
  setup.endpoint.answers(tokens(), oauthError('invalid_grant'))
  await setup.vault.refresh(REF)
  setup.later(301)
  await expect(setup.token()).rejects.toThrow()
  await setup.vault.disconnect(REF)
  expect(logged()).toMatchObject([
    { ...connected, ...about },
    { level: 'warn', msg: 'token request failed' },
    { level: 'warn', msg: 'access to an account has ended', reason: 'invalid_grant', ...about },
    { level: 'info', msg: 'account disconnected', ...about },
  ])
})

test.each([
  [300, (now: number) => new Date(now + 300_000).toISOString()],
  [undefined, () => null],
])(
  'a connection without a refresh token is warned of, with its end (in %s seconds)',
  async (expiresIn, end) => {
    setup = await vaultSetup()
    await consent(setup.vault, { refreshToken: undefined, expiresIn })
    expect(logged()).toMatchObject([
      connected,
      { level: 'warn', msg: expect.stringContaining('no refresh token'), expiresAt: end(setup.now()) },
    ])
  },
)

test('a listener hears of each change until it unsubscribes; its error is logged by its name only', async () => {
  setup = await vaultSetup()
  const stop = setup.vault.onChange(() => {
    throw new TypeError('access-0')
  })
  expect(await eventsDuring(setup.vault, () => consent(setup.vault))).toEqual(['connected'])
  const failures = () => logged().filter(({ msg }) => msg === 'a listener for changes of connections failed')
  await expect.poll(() => failures().at(-1)).toMatchObject({ level: 'error', name: 'TypeError' })
  const before = failures().length
  stop()
  await setup.vault.disconnect(REF)
  await setup.vault.idle()
  expect(failures()).toHaveLength(before)
  expect(setup.logLines.join('')).not.toContain('access-0')
})

test('a refresh is announced once, although the store’s answer is lost', async () => {
  const faulty = createFaultyStore()
  setup = await connectedSetup({ store: faulty.store, keys: [newKey()] })
  setup.endpoint.answers(tokens())
  const events = await eventsDuring(setup.vault, async () => {
    faulty.failBy((operation) => {
      const isSent = setup.endpoint.requests.length > 0
      return operation === 'compareAndSet' && isSent ? 'after' : undefined
    })
    await setup.vault.refresh(REF).catch(() => {})
    faulty.heal()
    await setup.vault.idle()
  })
  expect(events).toEqual(['refreshed'])
  expect(await setup.vault.find(REF)).toMatchObject({ tokens: { refreshes: 1 } })
})
