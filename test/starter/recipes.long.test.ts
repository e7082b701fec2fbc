/** Runs the examples of docs/guides.md in a copy of the project, against its sandbox, and follows the guides' commands. */
import { execFile, spawn } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { fileOf } from '../../src/cli/programs.ts'
import type { Running } from '../support/app.ts'
import { connectDemo } from '../support/demo.ts'
import { files, ROOT, read } from '../support/documents.ts'
import { tempDir, testEnv } from '../support/env.ts'
import { connected, connectionsOf, signedIn, toCallback } from '../support/flow.ts'
import { startOwnProvider } from '../support/openid-provider.ts'
import { freePort, serve } from '../support/ports.ts'
import { answering, programOf, run } from '../support/process.ts'
import { program } from '../support/programs.ts'
import { anotherVault } from '../support/stored.ts'
import { consent } from '../support/vault.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'

/** The examples of docs/guides.md, by the files to which the page copies them. */
const RECIPES = new Map(
  files('docs/examples/*/*').map((example) => {
    const path = example.replace('docs/examples/', '')
    const [own] = /(?<=^own-sign-in\/).*/.exec(path) ?? []
    const folder = path.endsWith('.eta') ? 'views/app' : 'src/web/sign-in'
    return [own ? join(folder, own) : join('src/features', path), read(example)]
  }),
)

/** The change of docs/guides.md to a line of this file. */
const TEAMS = 'src/web/sign-in/oidc-sign-in.ts'
function ofTeams(code: string): string {
  const [, diff = ''] = /```diff\n([\s\S]*?)```/.exec(read('docs/guides.md')) ?? []
  const lines = (sign: string) =>
    [...diff.matchAll(/^([+-])(.*\n)/gm)].map(([, of, line]) => (of === sign ? line : '')).join('')
  const changed = code.replace(lines('-'), () => lines('+'))
  if (changed === code) throw new Error(`docs/guides.md changes a line that ${TEAMS} does not have`)
  return changed
}

/** A copy of the project with the recipes as features, and the change for teams. `recipes`: their files. */
function projectWithRecipes() {
  const { dir, remove } = tempDir()
  for (const path of ['node_modules', 'package.json', 'biome.json', 'tsconfig.json'])
    symlinkSync(join(ROOT, path), join(dir, path))
  for (const path of ['src', 'views', 'test/support'])
    cpSync(join(ROOT, path), join(dir, path), { recursive: true })
  for (const [file, code] of RECIPES) {
    mkdirSync(join(dir, dirname(file)), { recursive: true })
    writeFileSync(join(dir, file), code)
  }
  writeFileSync(join(dir, TEAMS), ofTeams(read(TEAMS)))
  const recipes = [...RECIPES.keys(), TEAMS].filter((file) => file.endsWith('.ts'))
  return { dir, remove, recipes }
}

/** A server that keeps the bodies of requests, and answers with the next of `statuses`, or with 200. */
async function receiver() {
  const received: { headers: NodeJS.Dict<string | string[]>; body: string }[] = []
  const statuses: number[] = []
  const { port, close } = await serve(async (req, res) => {
    let body = ''
    for await (const part of req) body += part
    received.push({ headers: req.headers, body })
    res.writeHead(statuses.shift() ?? 200, { 'content-type': 'application/json' }).end('{}')
  })
  return { url: `http://127.0.0.1:${port}`, received, statuses, close }
}

/** The system to which changes of connections are sent. */
const system = await receiver()
afterAll(system.close)

const JSON_TYPE = { accept: 'application/json' }
const KEY = randomBytes(32)
const ENV = {
  DELIVERIES_SECRET: `whsec_${KEY.toString('base64')}`,
  CONNECTION_WEBHOOK_URL: system.url,
  CONNECTION_WEBHOOK_SECRET: `whsec_${KEY.toString('base64')}`,
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

test('a list with a filter has the records that match, and a quote cannot end the text; an update changes the fields that it names and no others', async () => {
  const visitor = await connected(app)
  const { items, total } = await leads(visitor, 'Quoted')
  expect(items.every(({ status }: { status: string }) => status === 'Quoted')).toBe(true)
  expect([items.length, total > 5]).toEqual([5, true])
  const [lead] = items
  const { status, json } = await change(visitor, lead.id, { status: "Won't buy" })
  expect({ status, json }).toEqual({ status: 200, json: { ...lead, status: "Won't buy" } })
  for (const refused of [{}, { id: 'L9' }])
    expect((await change(visitor, lead.id, refused)).json).toMatchObject({ code: 'invalid_input' })
  expect(await leads(visitor, "Won't buy")).toMatchObject({ items: [json], total: 1 })
  expect(await leads(visitor, "' or status eq 'Quoted")).toMatchObject({ items: [], total: 0 })
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

test('a webhook that is signed is accepted and stored once, also if it comes again; one without a signature, with that of another key, or with an old one is refused', async () => {
  expect(await deliver('unsigned', { isSigned: false })).toBe(401)
  expect(await deliver('forged', { key: randomBytes(32) })).toBe(401)
  for (const ageS of [-400, 400]) expect(await deliver('old', { ageS })).toBe(400)
  expect(await deliver('Roof tiles')).toBe(202)
  expect(await deliver('Roof tiles')).toBe(200)
  expect(await deliveries()).toEqual(['Roof tiles'])
})

test('another system is told of a change of a connection by a signed webhook, again after a failure, and without a token', async () => {
  system.statuses.push(503)
  const visitor = await connected(app, { name: 'wim' })
  await visitor.post(`${app.url}/connections/harbour-homes/disconnect`)
  const told = (type: string) =>
    system.received.filter(({ body }) => {
      const event = JSON.parse(body)
      return event.type === `connection.${type}` && event.data.userId === 'wim'
    })
  await expect.poll(() => told('connected')).toHaveLength(2)
  await expect.poll(() => told('disconnected')).toHaveLength(1)
  expect(new Set(told('connected').map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  for (const { headers, body } of system.received) {
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const signature = createHmac('sha256', KEY).update(signed).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${signature}`)
    expect(body).not.toMatch(/token/i)
  }
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
  const others = await tokenFor('una', { bxcontext: 'ridgeline-build' })
  expect(others).toMatchObject({ status: 404, code: 'not_connected' })
})

test('a service gets 503 while the platform does not answer, and 409 when access has ended, also if only the API has rejected its token', async () => {
  await connectedAgo('wes', 400)
  await app.fault('refresh', '500', 1)
  expect(await tokenFor('wes')).toMatchObject({ status: 503, code: 'platform_unavailable' })
  await connectedAgo('wes', 400)
  expect(await tokenFor('wes')).toMatchObject({ status: 409, code: 'connection_revoked' })
  await connectedAgo('xia', 10)
  const { accessToken } = await tokenFor('xia')
  const rejected = (token: string) => tokenFor('xia', { headers: { 'x-rejected-token': token } })
  expect(await rejected('an older one')).toMatchObject({ accessToken })
  expect(await rejected(accessToken)).toMatchObject({ code: 'connection_revoked' })
})

test('a service with no key, a wrong one, or one that is nearly right gets 401, and nothing of it is in the log', async () => {
  await connectedAgo('yan', 10)
  const key = ENV.SERVICE_TOKENS_KEY
  for (const given of ['', 'wrong', key.slice(0, -1), `${key}0`, key.toUpperCase()])
    expect(await tokenFor('yan', { key: given })).toMatchObject({ status: 401, code: 'unauthenticated' })
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

test('a sign-in with email and password signs in with the right one and no other, also after many wrong ones, names no address that is not verified, and deletes an account with its user', async () => {
  // knip doesn't read the examples, so without this line a product would keep the recipe's package.
  import.meta.resolve('better-auth')
  vi.stubEnv('BETTER_AUTH_SECRET', randomBytes(32).toString('base64'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const { ownSignIn } = await import(pathToFileURL(join(project.dir, 'src/web/sign-in/own-sign-in.ts')).href)
  const own = await support.startAll({ ...ENV, TRUST_PROXY: '1' }, {}, undefined, ownSignIn)
  onTestFinished(own.close)
  const email = 'ann@ridgeline.example'
  let addresses = 0
  /** Posts the form, from an IP address of its own unless it is given. */
  const enter = async (pressed: string, password: string, ip = `192.0.2.${++addresses}`) => {
    const visitor = createVisitor()
    const form = { email, password, do: pressed }
    const headers = { 'x-forwarded-for': ip }
    return {
      visitor,
      answer: await visitor.post(`${own.url}/sign-in?returnTo=/connections`, { form, headers }),
    }
  }
  const { visitor, answer } = await enter('create', 'correct horse battery')
  expect(answer.headers.get('location')).toBe('/signed-in?returnTo=%2Fconnections')
  expect((await visitor.get(`${own.url}/connections`)).text).toContain(`class="who">${email}<`)
  for (const pressed of ['sign-in', 'create']) {
    const { answer } = await enter(pressed, 'wrong horse battery')
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(`value="${email}"`)])
    expect(answer.text).not.toContain('horse')
  }
  expect((await enter('sign-in', 'correct horse battery')).answer.status).toBe(303)
  const guesser = '192.0.2.200'
  await Promise.all(Array.from({ length: 20 }, () => enter('sign-in', 'wrong horse battery', guesser)))
  const guessed = await enter('sign-in', 'correct horse battery', guesser)
  expect(guessed.answer.text).toContain('Too many requests')

  const { signIn } = own.services
  const db = new DatabaseSync(join(own.config.dataDir, 'accounts.sqlite'))
  onTestFinished(() => db.close())
  const userId = String(db.prepare('SELECT id FROM user').get()?.id)
  const exported = await signIn.exportUser(userId)
  expect(exported).toMatchObject({ email })
  expect(JSON.stringify(exported)).not.toMatch(/password|hash/i)
  expect(await signIn.emailOf(userId)).toBeNull()
  await signIn.deleteUser(userId)
  expect(await signIn.exportUser(userId)).toBeNull()
})

/** The blocks of commands of a guide, in their order. */
function blocksOf(heading: string): string[] {
  const [, section = ''] = read('docs/guides.md').split(`\n## ${heading}\n`)
  const [text = ''] = section.split('\n## ')
  return [...text.matchAll(/```\w+\n([\s\S]*?)```/g)].map(([, code = '']) => code)
}

test('a trace has the requests of the app and to the platform, and no secret', async () => {
  const [install = '', start = ''] = blocksOf('Tracing')
  const { dir, remove } = tempDir()
  onTestFinished(remove)
  for (const path of ['src', 'views']) symlinkSync(join(ROOT, path), join(dir, path))
  writeFileSync(join(dir, 'package.json'), '{ "private": true }')
  await promisify(execFile)('sh', ['-c', install], { cwd: dir })
  cpSync(join(ROOT, 'docs/examples/tracing.mjs'), join(dir, 'tracing.mjs'))

  const collector = await receiver()
  onTestFinished(collector.close)
  const [port, sandboxPort] = [await freePort(), await freePort()]
  const platform = `http://localhost:${sandboxPort}`
  const env = testEnv({
    PORT: String(port),
    PLATFORM_APP_URL: platform,
    PLATFORM_AUTH_URL: `${platform}/auth`,
    PLATFORM_API_URL: `${platform}/api`,
    SANDBOX_URL: platform,
    SANDBOX_PORT: String(sandboxPort),
    DATA_DIR: join(dir, 'data'),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  })
  const sandbox = run('src/cli/sandbox.ts', { ...env, DATA_DIR: join(dir, 'sandbox') })
  onTestFinished(async () => void (await sandbox.kill()))
  const [program = '', ...args] = start.trim().split(' ')
  const app = programOf(spawn(program, args, { cwd: dir, env: { PATH: process.env.PATH, ...env } }))
  const url = `http://localhost:${port}`
  await answering(`${url}/health/live`, app)

  const visitor = createVisitor()
  await connectDemo(visitor, { app: url, platform } as Parameters<typeof connectDemo>[1])
  await visitor.get(`${url}/connections?code=marked-value`)
  const text = () => collector.received.map(({ body }) => body).join('\n')
  const spans = () =>
    collector.received
      .flatMap(({ body }) => JSON.parse(body).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ spans }) => spans)
  const callback = () => spans().find(({ name }) => name === 'GET /connect/callback')
  // The page after the callback, and the one above.
  await expect.poll(() => spans().filter(({ name }) => name === 'GET /connections')).toHaveLength(2)
  const inTrace = spans().filter(({ traceId }) => traceId === callback()?.traceId)
  const attributes = JSON.stringify(
    inTrace.filter(({ name }) => name === 'POST').map((span) => span.attributes),
  )
  expect(attributes).toContain('"http.response.status_code","value":{"intValue":200}')
  expect(await app.kill('SIGTERM')).toBe(0)

  const cookies = [...visitor.cookies.values()].flatMap((jar) => [...jar.values()])
  const { PLATFORM_CLIENT_SECRET = '', SESSION_SECRET = '', TOKEN_ENCRYPTION_KEYS = '' } = env
  const secrets = [...cookies, PLATFORM_CLIENT_SECRET, SESSION_SECRET, TOKEN_ENCRYPTION_KEYS]
  for (const secret of [...secrets, 'marked-value', 'code=', 'state=', 'ridgeline-build', 'Bearer', 'health'])
    expect(text()).not.toContain(secret)
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
