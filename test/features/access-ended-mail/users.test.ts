import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { deleteUser, exportUser } from '../../../src/cli/user-data.ts'
import { type EncryptionKey, reencrypt } from '../../../src/connect/index.ts'
import { openSqlite } from '../../../src/connect/stores.ts'
import { texts as mailTexts } from '../../../src/features/access-ended-mail/texts.ts'
import { sandboxSettings } from '../../../src/runtime/run-sandbox.ts'
import { createUserEmails } from '../../../src/web/sign-in/user-emails.ts'
import { texts } from '../../../src/web/texts.ts'
import { type Running, startAll } from '../../support/app.ts'
import { aMinuteApart, connected, signedIn, toCallback } from '../../support/flow.ts'
import { startOwnProvider } from '../../support/openid-provider.ts'
import { ownSignIn } from '../../support/own-sign-in.ts'
import { shown } from '../../support/pages.ts'
import { foundInStore } from '../../support/store-texts.ts'
import { newKey } from '../../support/vault.ts'
import { createVisitor } from '../../support/visitor.ts'
import { linkOf, startMailServer } from './mail-server.ts'

const EMAIL = 'ann@ridgeline.example'
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function startServer() {
  const server = await startMailServer()
  cleanups.push(server.close)
  return server
}
async function start(...args: Parameters<typeof startAll>): Promise<Running> {
  const app = await startAll(...args)
  cleanups.push(app.close)
  return app
}
async function startProvider() {
  const provider = await startOwnProvider()
  cleanups.push(provider.close)
  return { ...provider, userId: `${provider.env.OIDC_ISSUER}#user|42 é` }
}
/** Signs a visitor in by OpenID Connect. */
async function enter(app: Running) {
  const visitor = createVisitor()
  await visitor.follow(await visitor.get(`${app.url}/sign-in`))
  return visitor
}
const PROBE = '/connections/harbour-homes/probe'

test('a revocation that one of two processes notices is one mail, whose link leads to that connection', async () => {
  const server = await startServer()
  const one = await start(server.env)
  const { platform, config } = one
  const [key] = config.tokenEncryptionKeys
  const two = await start({
    ...server.env,
    DATA_DIR: config.dataDir,
    BASE_URL: one.url,
    TOKEN_ENCRYPTION_KEYS: `${key?.id}:${key?.secret.toString('base64')}`,
    PLATFORM_APP_URL: platform,
    PLATFORM_AUTH_URL: `${platform}/auth`,
    PLATFORM_API_URL: `${platform}/api`,
  })
  const visitor = await connected(one)
  const there = await signedIn({ url: two.url, platform })
  expect((await there.get(two.url + PROBE)).status).toBe(200)
  await one.sandbox('revoke')
  await aMinuteApart(() => Promise.all([visitor.get(one.url + PROBE), there.get(two.url + PROBE)]))
  await expect.poll(() => server.mails).toHaveLength(1)
  for (const again of [one, two, one]) await (again === one ? visitor : there).get(again.url + PROBE)
  await Promise.all([one, two].flatMap(({ services }) => services.parts.map((part) => part.stop?.())))
  expect(server.mails.map(({ to }) => to)).toEqual([['ann@demo.example']])
  const page = await visitor.get(linkOf(server.mails[0]))
  expect(page.text).toContain(`<h1>${shown(texts.connectPage.reconnect('Harbour Homes'))}</h1>`)
  expect(page.text).toContain('value="harbour-homes"')
})

test('OpenID Connect: the mail goes to the address of the ID token, or else of UserInfo', async () => {
  const [server, provider] = [await startServer(), await startProvider()]
  const app = await start({ ...server.env, ...provider.env })
  const other = 'bea@ridgeline.example'
  for (const [claims, userInfo, to] of [
    [{ email: EMAIL }, undefined, EMAIL],
    [{ email: undefined, name: 'Ann' }, { sub: 'user|42 é', email: other, email_verified: 'true' }, other],
  ] as const) {
    Object.assign(provider.choices, { claims, userInfo })
    const visitor = await enter(app)
    expect((await visitor.get(await toCallback(app, visitor))).status).toBe(303)
    await app.sandbox('revoke')
    await aMinuteApart(() => visitor.get(app.url + PROBE))
    await expect.poll(() => server.mails.at(-1)?.to).toEqual([to])
  }
})

const UNVERIFIED: [claims: Record<string, unknown>, userInfo?: Record<string, unknown>][] = [
  [{ email_verified: false }],
  [{ email_verified: 'false' }],
  [{ email_verified: undefined }],
  [{ email_verified: 'yes' }],
  [
    { email: undefined, email_verified: false },
    { sub: 'user|42 é', email: EMAIL },
  ],
  [{ email: undefined }, { sub: 'user|43', email: EMAIL, email_verified: true }],
  [
    { email: undefined, email_verified: true },
    { sub: 'user|42 é', email: EMAIL },
  ],
  [{ email: 42 }],
  [{ email: undefined }],
]

test.each(UNVERIFIED)(
  'OpenID Connect: a sign-in with %j and UserInfo %j has no address, and an older address is dropped',
  async (...[claims, userInfo]) => {
    const provider = await startProvider()
    const app = await start({ MAIL_URL: 'sandbox', MAIL_FROM: 'us@connect.example', ...provider.env })
    const address = () => app.services.signIn.emailOf(provider.userId)
    await enter(app)
    expect(await address()).toBe(EMAIL)
    Object.assign(provider.choices, { claims, userInfo })
    await enter(app)
    expect(await address()).toBeNull()
  },
)

test('OpenID Connect: with OIDC_TRUSTS_EMAIL, an address counts of which the provider does not say whether it is verified', async () => {
  const provider = await startProvider()
  const mails = { MAIL_URL: 'sandbox', MAIL_FROM: 'us@connect.example' }
  const app = await start({ ...mails, ...provider.env, OIDC_TRUSTS_EMAIL: 'true' })
  const address = () => app.services.signIn.emailOf(provider.userId)
  provider.choices.claims = { email_verified: undefined }
  await enter(app)
  expect(await address()).toBe(EMAIL)
  provider.choices.claims = { email_verified: false }
  await enter(app)
  expect(await address()).toBeNull()
})

test('OpenID Connect: a sign-in while the app sends no emails drops the address of an earlier one', async () => {
  const provider = await startProvider()
  const app = await start(provider.env)
  await createUserEmails(app.services.store, app.config.tokenEncryptionKeys).keep(provider.userId, EMAIL)
  await enter(app)
  expect(await app.services.signIn.emailOf(provider.userId)).toBeNull()
})

test('OpenID Connect: the address is encrypted in the store, exported with the user, and deleted with them', async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const provider = await startProvider()
  provider.choices.claims = { name: 'Ann' }
  const app = await start({ MAIL_URL: 'sandbox', MAIL_FROM: 'us@connect.example', ...provider.env })
  await enter(app)
  expect(await app.services.signIn.emailOf(provider.userId)).toBe(EMAIL)
  expect(await foundInStore(app, [EMAIL])).toEqual([])
  expect(await exportUser(app.services, provider.userId)).toMatchObject({ signIn: { email: EMAIL } })
  await deleteUser(app.services, provider.userId, { yes: true })
  expect(await app.services.signIn.emailOf(provider.userId)).toBeNull()
  expect(await app.services.store.ofOwner(provider.userId)).toEqual([])
})

test('OpenID Connect: an app that sends no emails keeps no address', async () => {
  const provider = await startProvider()
  provider.choices.claims = { name: 'Ann' }
  const app = await start(provider.env)
  await enter(app)
  expect(await app.services.signIn.emailOf(provider.userId)).toBeNull()
  expect(await foundInStore(app, [EMAIL])).toEqual([])
})

test('re-encryption encrypts the addresses with the first key, and reports an address of a key that is gone', async () => {
  const [old, next, gone] = [newKey('k1'), newKey('k2'), newKey('k3')]
  const store = openSqlite({ file: ':memory:' })
  onTestFinished(() => store.close())
  await createUserEmails(store, [old]).keep('ann', EMAIL)
  const run = (keys: EncryptionKey[]) => Array.fromAsync(reencrypt(store, keys))
  expect([await run([next, old]), await run([next, old])]).toEqual([['reencrypted'], ['current']])
  expect(await createUserEmails(store, [next]).emailOf('ann')).toBe(EMAIL)
  expect(await run([gone])).toMatchObject([{ missingKeyId: 'k2' }])
})

test('a sign-in of your own: the email goes to the address that it names', async () => {
  const server = await startServer()
  const app = await start(server.env, {}, undefined, ownSignIn)
  const visitor = createVisitor()
  await visitor.post(`${app.url}/sign-in`, { form: { email: EMAIL } })
  expect((await visitor.get(await toCallback(app, visitor))).status).toBe(303)
  await app.sandbox('revoke')
  await aMinuteApart(() => visitor.get(app.url + PROBE))
  await expect.poll(() => server.mails.map(({ to }) => to)).toEqual([[EMAIL]])
})

test('in the demo, the sandbox shows the mail, with its link', async () => {
  const app = await start((await sandboxSettings({})).shared)
  const visitor = await connected(app, { name: '<b>Ann (2)</b>' })
  expect((await visitor.get(`${app.platform}/mails`)).text).toContain('No email yet.')
  await app.sandbox('revoke')
  await aMinuteApart(() => visitor.get(app.url + PROBE))
  const page = async () => (await visitor.get(`${app.platform}/mails`)).text
  await expect.poll(page).toContain(shown(mailTexts.lead('Harbour Homes')))
  expect(await page()).toContain(`href="${app.url}/connect?bxcontext=harbour-homes"`)
  expect(await page()).toContain('%3Cb%3EAnn%202%3C%2Fb%3E@demo.example')
})
