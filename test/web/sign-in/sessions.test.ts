import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { deleteUser } from '../../../src/cli/user-data.ts'
import { openSqlite } from '../../../src/connect/stores.ts'
import { inStore, SESSION_MS, SessionStore } from '../../../src/web/sign-in/session-store.ts'
import { type Running, startAll } from '../../support/app.ts'
import { tempDir, testEnv } from '../../support/env.ts'
import { later, newUser, signedIn } from '../../support/flow.ts'
import { inFlight } from '../../support/probe.ts'
import { command } from '../../support/process.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { foundInStore } from '../../support/store-texts.ts'
import { createVisitor, type Visitor } from '../../support/visitor.ts'

/**
 * A visitor with a copy of this visitor's cookies. The name of the cookie depends on `BASE_URL`, so it also fits another address of
 * the same app.
 */
function copyOf(visitor: Visitor, [from, to]: readonly Running[]): Visitor {
  const copy = createVisitor()
  const cookies = visitor.cookies.get(new URL(from?.url ?? '').host)
  for (const app of [from, to]) copy.cookies.set(new URL(app?.url ?? '').host, new Map(cookies))
  return copy
}

/** The settings of a command that works on the store of an app. */
const envOf = ({ config, platform }: Running) =>
  testEnv({
    PLATFORM_APP_URL: platform,
    PLATFORM_AUTH_URL: platform,
    PLATFORM_API_URL: platform,
    DATA_DIR: config.dataDir,
    REDIS_URL: config.redisUrls.join(),
  })

describe.each([
  ['the embedded store', false],
  [`Redis${withRedis}`, true],
])('on %s', (_name, onRedis) => {
  if (onRedis && !REDIS) return test.skip('there is no server to run on')
  let redis: RedisServer | undefined
  let first: Running
  /** Uses the same store, as another process would. */
  let second: Running
  beforeAll(async () => {
    redis = onRedis ? await startRedis() : undefined
    const shared = { SESSION_SECRET: 'x'.repeat(40), ...(redis && { REDIS_URL: redis.url }) }
    first = await startAll(shared)
    second = await startAll({ ...shared, BASE_URL: first.url, DATA_DIR: first.config.dataDir })
  })
  afterAll(async () => {
    await second?.close()
    await first?.close()
    await redis?.close()
  })
  const isSignedIn = async (visitor: Visitor, app = first) =>
    (await visitor.get(`${app.url}/connections`)).status === 200

  const ends: Record<string, (visitor: Visitor, name: string) => Promise<unknown>> = {
    'a sign-out': (visitor) => visitor.post(`${first.url}/sign-out`),
    'a sign-out everywhere': (visitor) =>
      visitor.post(`${first.url}/sign-out`, { form: { everywhere: 'true' } }),
    'a sign-in by somebody else in the same browser': (visitor) =>
      visitor.post(`${first.url}/sign-in`, { form: { name: newUser() } }),
    'the deletion of the user': async (_visitor, name) => {
      vi.spyOn(process.stdout, 'write').mockReturnValue(true)
      await deleteUser(first.services, name, { yes: true }).finally(() => vi.restoreAllMocks())
    },
  }
  const cases = Object.keys(ends).flatMap((end) =>
    ['the same process', 'another process'].flatMap((where) =>
      ['itself', 'at the end of its answer'].map((how) => [end, where, how] as const),
    ),
  )
  test.each(cases)(
    'a session that %s has ended stays ended, though a request in flight in %s saves it %s',
    async (end, where, how) => {
      const app = where === 'another process' ? second : first
      const name = newUser()
      const visitor = await signedIn(first, name)
      const other = copyOf(visitor, [first, second])
      const arrived = once(inFlight, 'arrived')
      const url = `${app.url}/probe/session${how === 'itself' ? '?explicit=1' : ''}`
      const answer = other.post(url, { accept: 'application/json' })
      await arrived
      await ends[end]?.(visitor, name)
      inFlight.emit('go')
      expect((await answer).status).toBe(how === 'itself' ? 401 : 200)
      // Another process may read a session that is up to a second old.
      await expect
        .poll(async () => [await isSignedIn(other), await isSignedIn(other, app)])
        .toEqual([false, false])
    },
  )

  test('what a request saves in a session is there for the next one, in every process', async () => {
    const visitor = copyOf(await signedIn(first, newUser()), [first, second])
    const save = async (app: Running) => {
      const arrived = once(inFlight, 'arrived')
      const answer = visitor.post(`${app.url}/probe/session`)
      await arrived
      inFlight.emit('go')
      return (await answer).json()
    }
    expect(await save(first)).toEqual({ saved: 1 })
    // Another process may read a session that is up to a second old.
    await expect.poll(async () => (await save(second)).saved).toBeGreaterThan(1)
  })

  test.each([
    [
      'the button',
      (visitor: Visitor) => visitor.post(`${first.url}/sign-out`, { form: { everywhere: 'true' } }),
    ],
    [
      'the command',
      (_visitor: Visitor, name: string) =>
        command('src/cli/users.ts', envOf(first), { args: ['sign-out', name] }),
    ],
  ])('%s ends the sessions of a user in every browser, and those of nobody else', async (_by, signOut) => {
    const name = newUser()
    const browsers = [await signedIn(first, name), await signedIn(first, name)]
    const somebodyElse = await signedIn(first, newUser())
    expect(await Promise.all(browsers.map((one) => isSignedIn(one)))).toEqual([true, true])
    await signOut(browsers[0] ?? expect.fail(), name)
    // Another process may read a session that is up to a second old.
    await expect.poll(() => Promise.all(browsers.map((one) => isSignedIn(one)))).toEqual([false, false])
    expect(await isSignedIn(somebodyElse)).toBe(true)
    expect(await foundInStore(first, [`"${name}"`])).toEqual([])
    const again = await signedIn(first, name)
    expect(await isSignedIn(again)).toBe(true)
  })

  test('a user has at most 100 sessions: the next sign-in ends the oldest one', async () => {
    const name = newUser()
    const browsers: Visitor[] = []
    browsers.push(await signedIn(first, name))
    while (browsers.length < 101)
      browsers.push(...(await Promise.all(Array.from({ length: 10 }, () => signedIn(first, name)))))
    const signedIns = await Promise.all(browsers.map((one) => isSignedIn(one)))
    expect(signedIns.flatMap((is, index) => (is ? [] : index))).toEqual([0])
  })
})

test('a session ends a fixed time after the sign-in, although requests save it', async () => {
  const temp = tempDir()
  const store = openSqlite({ file: join(temp.dir, 'store.sqlite'), now: () => Date.now() })
  const sessions = new SessionStore(inStore(store), store)
  const data = { cookie: {}, user: { id: 'ann', name: 'Ann' }, endsAt: Date.now() + SESSION_MS }
  const save = () =>
    new Promise<void>((resolve) => sessions.set('sid', JSON.parse(JSON.stringify(data)), () => resolve()))
  const read = () => new Promise((resolve) => sessions.get('sid', (_error, found) => resolve(found)))
  await sessions.begin('sid', 'ann', save)
  later(23 * 3600)
  await save()
  expect(await read()).toMatchObject({ user: { id: 'ann' } })
  later(2 * 3600)
  expect(await read()).toBeNull()
  await store.close()
  temp.remove()
})
