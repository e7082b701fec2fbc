import { afterEach, describe, expect, test } from 'vitest'
import { type Recorded, readRecorded } from '../../../src/sandbox/recorded.ts'
import { type Running, startAll } from '../../support/app.ts'
import { connected, connectionsOf } from '../../support/flow.ts'

let app: Running | undefined
afterEach(async () => {
  await app?.close()
  app = undefined
})

/** Rotates refresh tokens, names no scopes, and reports its seconds as text. */
const PLATFORM: Recorded = {
  token: {
    fields: { access_token: 'string', refresh_token: 'string', expires_in: 'string', id_token: 'string' },
    expiresIn: 1200,
  },
  refresh: { refreshToken: 'new' },
  oldRefreshToken: 'refused',
  revokedRefreshToken: { status: 403, error: 'invalid_grant' },
  invalidToken: { status: 401, error: 'unauthorized' },
  rateLimitHeaders: ['x-ratelimit-remaining'],
  records: {},
}

describe('the app connects to a sandbox that answers like a recorded platform', () => {
  test('and refreshes with a platform that rotates refresh tokens and names no scopes', async () => {
    app = await startAll({}, { recorded: PLATFORM })
    const visitor = await connected(app)
    await app.sandbox('expire')
    const call = await visitor.get(`${app.url}/connections/harbour-homes/probe`, {
      accept: 'application/json',
    })
    expect(call.status).toBe(200)
    const refreshes = (await app.calls()).filter(({ endpoint }) => endpoint === 'refresh')
    expect(refreshes.map(({ status }) => status)).toEqual([200])
    expect(await connectionsOf(app, visitor)).toMatchObject([{ status: 'active', scopes: null }])
  })

  test('and notices that access was revoked', async () => {
    app = await startAll({}, { recorded: PLATFORM })
    const visitor = await connected(app)
    await app.sandbox('revoke')
    await visitor.get(`${app.url}/connections/harbour-homes/probe`, { accept: 'application/json' })
    expect(await connectionsOf(app, visitor)).toMatchObject([{ status: 'revoked' }])
  })
})

describe('a report', () => {
  test.each([
    ['not JSON', 'is not JSON'],
    ['{}', 'has no recording of how a platform answers'],
    ['{"recording": {"refresh": {"refreshToken": "maybe"}}}', 'recording.refresh.refreshToken'],
    ['{"recording": {"notFound": {"status": 200}}}', 'recording.notFound.status'],
  ])('that is %s cannot be used, and says why', (text, message) => {
    expect(() => readRecorded(text)).toThrow(message)
  })
})
