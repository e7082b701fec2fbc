/** Runs the examples of docs/guides.md in a copy of the project, against its sandbox. */
import { execFile } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { fileOf } from '../../src/cli/programs.ts'
import type { Running } from '../support/app.ts'
import { ROOT, read } from '../support/documents.ts'
import { testEnv } from '../support/env.ts'
import { connected, connectionsOf, signedIn, toCallback } from '../support/flow.ts'
import { startOwnProvider } from '../support/openid-provider.ts'
import { run } from '../support/process.ts'
import { program } from '../support/programs.ts'
import { anotherVault } from '../support/stored.ts'
import { consent } from '../support/vault.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'
import { projectWithRecipes } from './recipes.ts'

const JSON_TYPE = { accept: 'application/json' }
const KEY = randomBytes(32)
const ENV = {
  DELIVERIES_SECRET: `whsec_${KEY.toString('base64')}`,
  SERVICE_TOKENS_KEY: randomBytes(32).toString('hex'),
  TOKEN_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
}

let project: ReturnType<typeof projectWithRecipes>
let support: typeof import('../support/app.ts')
let app: Running
beforeAll(async () => {
  project = projectWithRecipes()
  support = await import(pathToFileURL(join(project.dir, 'test/support/app.ts')).href)
  app = await support.startAll(ENV)
})
afterAll(async () => {
  await app.close()
  project.remove()
})

function addressesOf({ config }: Running) {
  const { appUrl, authUrl, apiUrl } = config.platform
  return { PLATFORM_APP_URL: appUrl, PLATFORM_AUTH_URL: authUrl, PLATFORM_API_URL: apiUrl }
}

/** The leads with a status. */
const leads = async (visitor: Visitor, status: string) =>
  (
    await visitor.get(
      `${app.url}/connections/harbour-homes/lead-status?status=${encodeURIComponent(status)}&top=5`,
      JSON_TYPE,
    )
  ).json()

/** Sends changes of a lead, as another program would. */
async function change(visitor: Visitor, id: string, changes: object) {
  const cookies = visitor.cookies.get(new URL(app.url).host) ?? []
  const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
  const headers = { ...JSON_TYPE, cookie, 'content-type': 'application/json' }
  const url = `${app.url}/connections/harbour-homes/lead-status/${id}`
  const answer = await fetch(url, { method: 'PATCH', headers, body: JSON.stringify(changes) })
  return { status: answer.status, json: await answer.json() }
}

test('a list with a filter has the records that match, with their total; a quote cannot end the text', async () => {
  const visitor = await connected(app)
  const { items, total } = await leads(visitor, 'Quoted')
  expect(items.every(({ status }: { status: string }) => status === 'Quoted')).toBe(true)
  expect([items.length, total > 5]).toEqual([5, true])
  await change(visitor, items[0].id, { status: "Won't buy" })
  expect(await leads(visitor, "Won't buy")).toMatchObject({ items: [{ id: items[0].id }], total: 1 })
  expect(await leads(visitor, "' or status eq 'Quoted")).toMatchObject({ items: [], total: 0 })
  const unfiltered = await visitor.get(`${app.url}/connections/harbour-homes/lead-status`, JSON_TYPE)
  expect(unfiltered.json()).toMatchObject({ status: 400, code: 'invalid_input', field: 'status' })
})

test('an update changes the fields that it names and no others, and answers with the whole record', async () => {
  const visitor = await connected(app)
  const [lead] = (await leads(visitor, 'Contacted')).items
  const { status, json } = await change(visitor, lead.id, { notes: 'Called.' })
  expect({ status, json }).toEqual({ status: 200, json: { ...lead, notes: 'Called.' } })
  expect((await change(visitor, lead.id, { status: 'Lost' })).json).toMatchObject({ notes: 'Called.' })
})

test('an update of nothing, of an unknown field or of an unknown record changes nothing', async () => {
  const visitor = await connected(app)
  const before = await leads(visitor, 'New')
  const [{ id }] = before.items
  expect((await change(visitor, id, {})).json).toMatchObject({ code: 'invalid_input' })
  expect((await change(visitor, id, { id: 'L9' })).json).toMatchObject({ code: 'invalid_input' })
  expect((await change(visitor, 'L9', { notes: '' })).json).toMatchObject({ code: 'not_found' })
  expect(await leads(visitor, 'New')).toEqual(before)
})

/** The parts that the feature with the job adds to an app. */
const jobOf = ({ services }: Running) =>
  services.parts[services.features.findIndex(({ name }) => name === 'new-leads')]

test('a background job runs in one of two processes, and in the other one when the first has stopped', async () => {
  const one = await support.startAll(ENV)
  const two = await support.startAll({ ...ENV, ...addressesOf(one), DATA_DIR: one.config.dataDir })
  onTestFinished(() => two.close().then(one.close))
  await connected(one)
  const rounds = async () => (await one.calls()).filter(({ endpoint }) => endpoint === 'leads').length

  jobOf(one)?.start?.()
  await expect.poll(rounds).toBe(1)
  const asked = vi.spyOn(two.services.store, 'compareAndSet')
  jobOf(two)?.start?.()
  await expect.poll(() => Promise.all(asked.mock.results.map(({ value }) => value))).toContain(false)
  expect(await rounds()).toBe(1)

  await one.services.close({ graceMs: 5_000 })
  await expect.poll(rounds).toBe(2)
  await expect.poll(() => two.logLines.join('')).toMatch(/"total":[1-9]/)
})

/** Sends a delivery, which is signed unless `isSigned` is false. */
async function deliver(text: string, { ageS = 0, key = KEY, isSigned = true } = {}) {
  const id = text
  const body = JSON.stringify({ userId: 'ann', text })
  const timestamp = Math.floor(Date.now() / 1000) - ageS
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    ...(isSigned && { 'webhook-signature': `v1,${signature}` }),
  }
  return (await fetch(`${app.url}/webhooks/deliveries`, { method: 'POST', headers, body })).status
}
const deliveries = async () =>
  (await (await signedIn(app)).get(`${app.url}/deliveries`, JSON_TYPE)).json().deliveries

test('a webhook without a signature, with one of another key, or with an old one is refused, and nothing is stored', async () => {
  const before = await deliveries()
  expect(await deliver('unsigned', { isSigned: false })).toBe(401)
  expect(await deliver('forged', { key: randomBytes(32) })).toBe(401)
  expect(await deliver('early', { ageS: -400 })).toBe(400)
  expect(await deliver('late', { ageS: 400 })).toBe(400)
  expect((await fetch(`${app.url}/webhooks/deliveries`, { method: 'POST' })).status).toBe(401)
  expect(await deliveries()).toEqual(before)
})

test('a webhook that is signed is accepted and stored once, also if it comes again', async () => {
  expect(await deliver('Roof tiles')).toBe(202)
  expect(await deliver('Roof tiles')).toBe(200)
  expect((await deliveries()).filter((text: string) => text === 'Roof tiles')).toHaveLength(1)
})

/** The notes of a user, after adding one. */
async function notes(name: string, text?: string): Promise<unknown> {
  const visitor = await connected(app, { name })
  const url = `${app.url}/connections/harbour-homes/notes`
  if (text !== undefined) expect((await visitor.post(url, { ...JSON_TYPE, form: { text } })).status).toBe(201)
  return (await visitor.get(url, JSON_TYPE)).json().notes
}

/** Runs a command of the project on the app's store. Resolves to what it prints. */
async function command(script: string, ...args: string[]): Promise<string> {
  const env = testEnv({ ...ENV, ...addressesOf(app), DATA_DIR: app.config.dataDir })
  const { exited, output } = run(join(project.dir, script), env, { args })
  await exited
  return output()
}

test('a table of your own: the export of a user has their rows, and the deletion deletes them, also after a disconnect, and no others', async () => {
  await notes('bob', 'Call back')
  expect(await notes('zoe', 'Ask for a quote')).toEqual([{ text: 'Ask for a quote' }])
  await app.services.connect.vault.disconnect({ userId: 'zoe', bxcontext: 'harbour-homes' })
  expect(await command('src/cli/users.ts', 'export', 'zoe')).toContain('"text": "Ask for a quote"')
  await command('src/cli/users.ts', 'delete', 'zoe', '--yes')
  expect(await notes('zoe')).toEqual([])
  expect(await notes('bob')).toEqual([{ text: 'Call back' }])
})

/** Asks for a token, as a service does. */
async function tokenFor(
  user: string,
  { headers = {}, key = ENV.SERVICE_TOKENS_KEY, bxcontext = 'harbour-homes' } = {},
) {
  const query = new URLSearchParams({ user, bxcontext })
  const authorization = `Bearer ${key}`
  const answer = await fetch(`${app.url}/internal/token?${query}`, {
    headers: { ...JSON_TYPE, authorization, ...headers },
  })
  return {
    status: answer.status,
    cache: answer.headers.get('cache-control'),
    ...JSON.parse(await answer.text()),
  }
}

/** Connects a user with made-up tokens, which the sandbox doesn't know, at a time in the past. `seconds`: how long. */
async function connectedAgo(userId: string, seconds: number) {
  const vault = anotherVault(app, { now: () => Date.now() - seconds * 1_000 })
  await consent(vault, { accessToken: `access of ${userId}` }, { userId, bxcontext: 'harbour-homes' })
}

test('a service in another language gets the token of each user, with its end, and of no connection that is not theirs', async () => {
  await connectedAgo('una', 10)
  await connectedAgo('vic', 20)
  for (const user of ['una', 'vic']) {
    const { accessToken, expiresAt, cache } = await tokenFor(user)
    expect({ accessToken, cache }).toEqual({ accessToken: `access of ${user}`, cache: 'no-store' })
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThan(300_000)
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now())
  }
  expect(await tokenFor('una', { bxcontext: 'ridgeline-build' })).toMatchObject({
    status: 404,
    code: 'not_connected',
  })
  expect(await tokenFor('')).toMatchObject({ status: 400, code: 'invalid_input', field: 'user' })
})

test('a service gets 503 while the platform does not answer, and 409 when access has ended', async () => {
  await connectedAgo('wes', 400)
  await app.fault('refresh', '500', 1)
  expect(await tokenFor('wes')).toMatchObject({ status: 503, code: 'platform_unavailable' })
  await connectedAgo('wes', 400)
  expect(await tokenFor('wes')).toMatchObject({ status: 409, code: 'connection_revoked' })
})

test('a service that sends back a token that the platform rejected gets a newer one, or learns that access has ended', async () => {
  await connectedAgo('xia', 10)
  const { accessToken } = await tokenFor('xia')
  expect(await tokenFor('xia', { headers: { 'x-rejected-token': 'an older one' } })).toMatchObject({
    accessToken,
  })
  expect(await tokenFor('xia', { headers: { 'x-rejected-token': accessToken } })).toMatchObject({
    code: 'connection_revoked',
  })
})

test('a service with no key, a wrong one, or one that is nearly right gets 401, and nothing of it is in the log', async () => {
  await connectedAgo('yan', 10)
  const key = ENV.SERVICE_TOKENS_KEY
  const wrong = ['', 'wrong', key.slice(0, -1), `${key}0`, key.toUpperCase()]
  for (const given of wrong)
    expect(await tokenFor('yan', { key: given })).toMatchObject({ status: 401, code: 'unauthenticated' })
  expect(await tokenFor('yan', { headers: { authorization: key } })).toMatchObject({ status: 401 })
  expect(await tokenFor('yan')).toMatchObject({ status: 200 })
  const log = app.logLines.join('')
  expect(log).toContain('/internal/token')
  for (const secret of [key.slice(0, -1), key.toUpperCase(), 'access of', 'yan'])
    expect(log).not.toContain(secret)
})

describe.each([
  ['curl', 'sh', ['sh', '-c']],
  ['python3', 'py', ['python3', '-c']],
])('a service by %s', (name, ending, [file = '', option = '']) => {
  test.skipIf(!program(name))('gets a token by the call of its example', async () => {
    await connectedAgo('ann', 10)
    const code = read(`docs/examples/token.${ending}`)
    const call = (key: string) =>
      promisify(execFile)(file, [option, code.replace('http://localhost:3000', app.url)], {
        env: { PATH: process.env.PATH, SERVICE_TOKENS_KEY: key },
      }).then(
        ({ stdout }) => stdout,
        ({ stdout, stderr }) => stdout + stderr,
      )
    expect(await call(ENV.SERVICE_TOKENS_KEY)).toContain('access of ann')
    expect(await call('wrong')).toMatch(/401[\s\S]*unauthenticated|unauthenticated[\s\S]*401/)
  })
})

test('the people of a company share a connection, whoever made it; another company has none, and nobody signs in without one', async () => {
  const provider = await startOwnProvider()
  const team = await support.startAll({ ...ENV, ...provider.env })
  onTestFinished(() => team.close().then(provider.close))
  const enter = async (name: string, org_id?: unknown) => {
    const visitor = createVisitor()
    provider.choices.claims = { sub: name, name, org_id }
    return { visitor, page: await visitor.follow(await visitor.get(`${team.url}/sign-in`)) }
  }
  const { visitor: ann } = await enter('Ann', 'acme')
  await ann.get(await toCallback(team, ann))
  const { visitor: bob, page } = await enter('Bob', 'acme')
  expect(page.text).toContain('class="who">Bob<')
  expect(page.text).toContain('Everyone at your company shares these connections.')
  expect(await connectionsOf(team, bob)).toMatchObject([{ bxcontext: 'harbour-homes', status: 'active' }])
  // Ann has left the team, but her session is still open.
  const again = await enter('Ann', 'other')
  expect(await connectionsOf(team, again.visitor)).toEqual([])
  expect(await connectionsOf(team, ann)).toEqual(await connectionsOf(team, bob))
  for (const company of [undefined, '', 7])
    expect((await enter('Ann', company)).page.text).toContain('The sign-in service did not say who you are.')
})

describe('a sign-in with email and password', () => {
  let own: Running
  beforeAll(async () => {
    // knip doesn't read the examples, so without this line a product would keep the recipe's package.
    import.meta.resolve('better-auth')
    vi.stubEnv('BETTER_AUTH_SECRET', randomBytes(32).toString('base64'))
    const { ownSignIn } = await import(
      pathToFileURL(join(project.dir, 'src/web/sign-in/own-sign-in.ts')).href
    )
    own = await support.startAll({ ...ENV, TRUST_PROXY: '1' }, {}, undefined, ownSignIn)
    return () => own.close()
  })
  afterAll(() => void vi.unstubAllEnvs())

  const EMAIL = 'ann@ridgeline.example'
  let addresses = 0
  /** Posts the form, from an IP address of its own unless it is given. */
  const enter = async (pressed: string, password: string, ip = `192.0.2.${++addresses}`) => {
    const visitor = createVisitor()
    const form = { email: EMAIL, password, do: pressed }
    const headers = { 'x-forwarded-for': ip }
    const answer = await visitor.post(`${own.url}/sign-in?returnTo=/connections`, { form, headers })
    return { visitor, answer }
  }

  test('creates an account, and signs in with its password and with no other', async () => {
    const { visitor, answer } = await enter('create', 'correct horse battery')
    expect(answer.headers.get('location')).toBe('/signed-in?returnTo=%2Fconnections')
    expect((await visitor.get(`${own.url}/connections`)).text).toContain(`class="who">${EMAIL}<`)
    for (const pressed of ['sign-in', 'create']) {
      const { answer } = await enter(pressed, 'wrong horse battery')
      expect(answer.status).toBe(400)
      expect(answer.text).toContain(`value="${EMAIL}"`)
      expect(answer.text).not.toContain('horse')
    }
    expect((await enter('sign-in', 'correct horse battery')).answer.status).toBe(303)
  })

  test('refuses the right password too after many wrong ones from one address', async () => {
    const guesses = Array.from({ length: 20 }, () => enter('sign-in', 'wrong horse battery', '192.0.2.200'))
    await Promise.all(guesses)
    const { answer } = await enter('sign-in', 'correct horse battery', '192.0.2.200')
    expect(answer.text).toContain('Too many requests')
  })

  test('names no address that is not verified, and deletes an account with its user', async () => {
    const { signIn } = own.services
    const db = new DatabaseSync(join(own.config.dataDir, 'accounts.sqlite'))
    onTestFinished(() => db.close())
    const userId = String(db.prepare('SELECT id FROM user').get()?.id)
    expect(await signIn.exportUser(userId)).toMatchObject({ email: EMAIL })
    expect(JSON.stringify(await signIn.exportUser(userId))).not.toMatch(/password|hash/i)
    expect(await signIn.emailOf(userId)).toBeNull()
    await signIn.deleteUser(userId)
    expect(await signIn.exportUser(userId)).toBeNull()
  })
})

test('the recipes pass the type check and the linter of the project', async () => {
  const { dir, recipes } = project
  expect(recipes.length).toBeGreaterThan(0)
  const compiler = { extends: join(ROOT, 'tsconfig.json'), compilerOptions: { tsBuildInfoFile: 'info' } }
  writeFileSync(
    join(dir, 'tsconfig.recipes.json'),
    JSON.stringify({ ...compiler, include: ['src/app.ts', ...recipes] }),
  )
  // Joins them into a single string, so that a failure shows them all.
  const outputOf = (name: string, args: string[]) =>
    promisify(execFile)(process.execPath, [fileOf(ROOT, name), ...args], { cwd: dir }).then(
      () => '',
      ({ stdout, stderr }) => `${stdout}${stderr}`,
    )
  expect(await outputOf('tsc', ['-p', 'tsconfig.recipes.json'])).toBe('')
  expect(await outputOf('biome', ['check', '--vcs-enabled=false', ...recipes])).toBe('')
})
