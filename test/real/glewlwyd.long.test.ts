import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENT, tempDir, testEnv } from '../support/env.ts'
import { freePort } from '../support/ports.ts'
import { type Program, runApp } from '../support/process.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'
import { type Glewlwyd, startGlewlwyd } from './glewlwyd.ts'
import { GLEWLWYD, withGlewlwyd } from './programs.ts'

const REVOKED = { status: 409, code: 'connection_revoked' }
const JSON_ONLY = { accept: 'application/json' }

describe.skipIf(!GLEWLWYD)(`with a real Glewlwyd as the authorization server${withGlewlwyd}`, () => {
  let data: ReturnType<typeof tempDir>
  let glewlwyd: Glewlwyd
  let app: Program & { url: string }
  let callback: string

  beforeAll(async () => {
    data = tempDir()
    const port = String(await freePort())
    const url = `http://localhost:${port}`
    callback = `${url}/connect/callback`
    glewlwyd = await startGlewlwyd({ redirectUri: callback })
    app = await runApp(testEnv({ ...glewlwyd.env, BASE_URL: url, PORT: port, DATA_DIR: data.dir }))
  })
  afterAll(async () => {
    await app?.kill()
    await glewlwyd?.close()
    data?.remove()
  })

  async function connect(visitor: Visitor): Promise<void> {
    const started = await visitor.post(`${app.url}/connect`)
    const consent = await visitor.follow(started, glewlwyd.authorizeUrl)
    await visitor.get(await glewlwyd.allow(consent.url))
  }
  async function connected(name: string): Promise<Visitor> {
    const visitor = createVisitor()
    await visitor.post(`${app.url}/sign-in`, { form: { name } })
    await connect(visitor)
    return visitor
  }
  const leads = (visitor: Visitor) => visitor.get(`${app.url}/connections/harbour-homes/leads`, JSON_ONLY)
  const refresh = (visitor: Visitor) =>
    visitor.post(`${app.url}/connections/harbour-homes/refresh`, JSON_ONLY)
  const status = async (visitor: Visitor) =>
    (await visitor.get(`${app.url}/connections`, JSON_ONLY)).json().connections[0].status

  test('calls work after connecting and after a refresh', async () => {
    const visitor = await connected('ann')
    expect((await leads(visitor)).json().items).toEqual([{ id: 'lead-1' }])
    const refreshed = await refresh(visitor)
    expect(refreshed.status).toBe(200)
    expect(refreshed.json().connection).toMatchObject({
      status: 'active',
      scopes: ['catalogues', 'leads'],
    })
    expect(refreshed.json().connection.refreshedAt).not.toBeNull()
    expect((await leads(visitor)).status).toBe(200)
  })

  test('the first call after a revocation answers that access was revoked', async () => {
    const visitor = await connected('ben')
    expect((await leads(visitor)).status).toBe(200)
    await glewlwyd.revoke()
    const refused = await leads(visitor)
    expect(refused.headers.get('content-type')).toContain('application/problem+json')
    expect(refused.json()).toMatchObject(REVOKED)
    expect(await status(visitor)).toBe('revoked')
  })

  test('a revocation right after a refresh is noticed when the next refresh is allowed, within 5 s', async () => {
    const visitor = await connected('ben 2')
    expect((await refresh(visitor)).status).toBe(200)
    await glewlwyd.revoke()
    const refused = await leads(visitor)
    expect(refused.json()).toMatchObject({ status: 503, code: 'platform_unavailable' })
    const waitSeconds = Number(refused.headers.get('retry-after'))
    expect(waitSeconds).toBeLessThanOrEqual(5)
    await setTimeout(waitSeconds * 1000)
    expect((await leads(visitor)).json()).toMatchObject(REVOKED)
    expect(await status(visitor)).toBe('revoked')
  })

  test('calls work again once the user connects again after a revocation', async () => {
    const visitor = await connected('cleo')
    await glewlwyd.revoke()
    expect((await leads(visitor)).status).not.toBe(200)
    await connect(visitor)
    expect((await leads(visitor)).status).toBe(200)
    expect(await status(visitor)).toBe('active')
  })

  // Alone, this answer therefore proves no revocation: it takes the API's 401 as well.
  test('Glewlwyd answers a revoked refresh token as it answers a wrong secret: 400 without a body', async () => {
    const send = async (fields: Record<string, string>) => {
      const client = { client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret }
      const body = new URLSearchParams({ ...client, ...fields })
      const answer = await fetch(glewlwyd.tokenUrl, { method: 'POST', body })
      return { status: answer.status, text: await answer.text() }
    }
    const request = { response_type: 'code', client_id: CLIENT.clientId, redirect_uri: callback }
    const consent = `${glewlwyd.authorizeUrl}?${new URLSearchParams({ ...request, scope: 'leads' })}`
    const code = new URL(await glewlwyd.allow(consent)).searchParams.get('code') ?? ''
    const exchanged = await send({ grant_type: 'authorization_code', redirect_uri: callback, code })
    const { refresh_token } = JSON.parse(exchanged.text) as { refresh_token: string }
    const renewal = { grant_type: 'refresh_token', refresh_token }
    expect((await send(renewal)).status).toBe(200)
    expect(await send({ ...renewal, client_secret: 'wrong' })).toEqual({ status: 400, text: '' })
    await glewlwyd.revoke()
    expect(await send(renewal)).toEqual({ status: 400, text: '' })
  })
})
