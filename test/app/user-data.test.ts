import { expect, onTestFinished, test, vi } from 'vitest'
import { deleteUser, exportUser } from '../../src/cli/user-data.ts'
import type { OwnSignIn } from '../../src/web/sign-in/user.ts'
import { type Running, startAll } from '../support/app.ts'
import { toCallback } from '../support/flow.ts'
import { startOwnProvider } from '../support/openid-provider.ts'
import { ownSignIn } from '../support/own-sign-in.ts'
import { browserPaths } from '../support/routes.ts'
import { foundInStore } from '../support/store-texts.ts'
import { consent } from '../support/vault.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'

/** A marker in every id, name and address of the user, and in everything that they type. */
const MARK = 'zoë-quinn7'
const EMAIL = `${MARK}@quinn.example`
const BEN = { userId: 'ben', bxcontext: 'harbour-homes' }

interface SignIn {
  env: Record<string, string>
  own?: OwnSignIn
  /** Signs the user in. Resolves to their id. */
  enter(app: Running, visitor: Visitor): Promise<string>
}

const signIns: Record<string, () => Promise<SignIn>> = {
  'the demo': async () => ({
    env: {},
    async enter(app, visitor) {
      await visitor.post(`${app.url}/sign-in`, { form: { name: MARK } })
      return MARK
    },
  }),
  'OpenID Connect': async () => {
    const provider = await startOwnProvider()
    onTestFinished(provider.close)
    provider.choices.claims = { sub: MARK, name: `Ms ${MARK}`, email: EMAIL }
    return {
      env: provider.env,
      async enter(app, visitor) {
        await visitor.follow(await visitor.get(`${app.url}/sign-in`))
        return `${provider.env.OIDC_ISSUER}#${MARK}`
      },
    }
  },
  'a sign-in of its own': async () => ({
    env: {},
    own: ownSignIn,
    async enter(app, visitor) {
      await visitor.post(`${app.url}/sign-in`, { form: { email: EMAIL } })
      return `account of ${EMAIL}`
    },
  }),
}

/** The data of a user other than the connection: its name, and a flow that has not finished. */
async function leaveTraces(app: Running, visitor: Visitor): Promise<void> {
  await visitor.post(`${app.url}/connections/harbour-homes/label`, { form: { label: MARK } })
  await visitor.post(`${app.url}/connect`)
}

/** Everything that pages store, which doesn't depend on the sign-in. */
async function openEveryPage(app: Running, visitor: Visitor): Promise<void> {
  for (const path of browserPaths(app.services, MARK)) {
    if (/sign-|disconnect|callback|live$/.test(path)) continue
    const url = app.url + path.replace(`/connections/${MARK}`, '/connections/harbour-homes')
    await visitor.get(url)
    await visitor.post(url, { form: { name: MARK, on: 'true' } })
  }
}

test.each(Object.keys(signIns))('of a user of %s who is deleted, the store has nothing', async (name) => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const { env, own, enter } = (await signIns[name]?.()) ?? expect.fail(name)
  const app = await startAll(env, {}, undefined, own)
  onTestFinished(async () => {
    vi.restoreAllMocks()
    await app.close()
  })
  const { store, connect } = app.services
  await consent(connect.vault, {}, BEN)
  const visitor = createVisitor()
  const userId = await enter(app, visitor)
  expect((await visitor.get(await toCallback(app, visitor))).status).toBe(303)
  if (name === 'the demo') await openEveryPage(app, visitor)
  await leaveTraces(app, visitor)
  const wanted = [MARK, userId]
  // Flows are written a moment after the request, or when the app stops.
  await Promise.all(app.services.parts.map((part) => part.stop?.()))
  // The connection, the session, and the connect flow that has begun; features keep more.
  expect((await foundInStore(app, wanted)).length).toBeGreaterThan(2)

  const exported = JSON.stringify(await exportUser(app.services, userId))
  for (const text of [MARK, 'harbour-homes', ...(own ? [EMAIL] : [])]) expect(exported).toContain(text)
  expect(exported).toContain('"kind":"platform-flows"')
  // Whatever is encrypted begins with the key's id, in any version.
  const [{ id: keyId = '' } = {}] = app.config.tokenEncryptionKeys
  expect(exported).not.toContain(`.${keyId}.`)

  await deleteUser(app.services, userId, { yes: true })
  expect(await exportUser(app.services, userId).catch(({ message }) => message)).toContain(
    'Nothing is stored',
  )
  expect(await store.ofOwner(userId)).toEqual([])
  expect(await foundInStore(app, wanted)).toEqual([])
  expect((await visitor.get(`${app.url}/connections`)).status).toBe(401)
  expect(await connect.vault.find(BEN)).not.toBeNull()
})

test('without --yes, nothing of a user is deleted, and the answer lists what would be', async () => {
  const app = await startAll({}, {}, undefined, ownSignIn)
  onTestFinished(app.close)
  const { enter } = (await signIns['a sign-in of its own']?.()) ?? expect.fail()
  const userId = await enter(app, createVisitor())
  const ref = { userId, bxcontext: 'harbour-homes' }
  await consent(app.services.connect.vault, {}, ref)
  await expect(deleteUser(app.services, userId, {})).rejects.toThrow(
    /all connections.*\(1\).* the account\. Add --yes\. Nothing was changed\./,
  )
  expect(await app.services.signIn.emailOf(userId)).toBe(EMAIL)
  expect(await app.services.connect.vault.find(ref)).not.toBeNull()
})

test.each(['the demo', 'OpenID Connect'])(
  '%s keeps no address of a user if no mails are sent',
  async (name) => {
    const { env, enter } = (await signIns[name]?.()) ?? expect.fail(name)
    const app = await startAll(env)
    onTestFinished(app.close)
    const userId = await enter(app, createVisitor())
    expect(await app.services.signIn.exportUser(userId)).toBeNull()
    expect(await foundInStore(app, [EMAIL])).toEqual([])
  },
)
