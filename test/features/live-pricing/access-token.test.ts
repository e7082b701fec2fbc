import * as oauth from 'openid-client'
import { afterEach, describe, expect, test } from 'vitest'
import { CALLER, FULL, form, type Supplier, startSupplier } from './support.ts'

let supplier: Supplier
afterEach(() => supplier?.close())

const ask = (request: { body: string; headers: Record<string, string> }) =>
  fetch(`${supplier.url}/connect/token`, { method: 'POST', ...request })

describe('the access token', () => {
  const paths = ['/stores/nearest?latitude=0&longitude=0&radius=1', '/stores/S1', '/request-prices'] as const
  const call = (path: string, authorization?: string) =>
    fetch(supplier.url + path, {
      headers: { ...(authorization && { authorization }), 'content-type': 'application/json' },
      ...(path.startsWith('/request-prices') && { method: 'POST', body: '{"items":[]}' }),
    })

  test.each(paths)('is required for %s: anything else returns 401 with a challenge', async (path) => {
    supplier = await startSupplier()
    const token = await supplier.token()
    expect((await call(path, `Bearer ${token}`)).status).toBe(200)
    for (const [authorization, challenge] of [
      [undefined, 'Bearer realm="live-pricing"'],
      [`Basic ${token}`, 'Bearer realm="live-pricing"'],
      [`Bearer ${token.slice(0, -2)}AA`, 'Bearer realm="live-pricing", error="invalid_token"'],
      ['Bearer x', 'Bearer realm="live-pricing", error="invalid_token"'],
    ]) {
      const answer = await call(path, authorization)
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, challenge])
    }
    expect((await call(`${path}${path.includes('?') ? '&' : '?'}access_token=${token}`)).status).toBe(401)
  })

  test('expires on time, even if it was used before', async () => {
    let ms = Date.now()
    supplier = await startSupplier(undefined, { now: () => ms, tokenSeconds: 60 })
    const token = await supplier.token()
    expect((await call(paths[1], `Bearer ${token}`)).status).toBe(200)
    ms += 60_000
    expect((await call(paths[1], `Bearer ${token}`)).status).toBe(401)
    const unused = await supplier.token()
    ms += 60_000
    expect((await call(paths[1], `Bearer ${unused}`)).status).toBe(401)
  })

  test('survives a rotation of the signing key, and is rejected by staging and for a removed client', async () => {
    supplier = await startSupplier()
    const token = await supplier.token()
    const [k1, k2] = [
      { id: 'k1', secret: new Uint8Array(32).fill(7) },
      { id: 'k2', secret: new Uint8Array(32).fill(8) },
    ]
    const others = {
      rotated: { keys: [k2, k1], baseUrl: supplier.url },
      otherKey: { keys: [k2], baseUrl: supplier.url },
      otherBase: { keys: [k1], baseUrl: `${supplier.url}-staging` },
      gone: { keys: [k1], baseUrl: supplier.url, clients: [{ id: 'other', secrets: ['s'] }] },
    }
    const statuses: Record<string, number> = {}
    for (const [name, options] of Object.entries(others)) {
      const other = await startSupplier(undefined, options)
      statuses[name] = (
        await fetch(`${other.url}/stores/S1`, { headers: { authorization: `Bearer ${token}` } })
      ).status
      await other.close()
    }
    expect(statuses).toEqual({ rotated: 200, otherKey: 401, otherBase: 401, gone: 401 })
  })

  test('is refused if its last character differs, although that character has unused bits', async () => {
    supplier = await startSupplier()
    const token = await supplier.token()
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (const last of digits) {
      const { status } = await call(paths[0], `Bearer ${token.slice(0, -1)}${last}`)
      expect(status, last).toBe(last === token.at(-1) ? 200 : 401)
    }
  })

  test('is a JWT that only identifies its client, and neither it nor the secret is ever logged', async () => {
    supplier = await startSupplier()
    const token = await supplier.token()
    await call(paths[1], `Bearer ${token}x`)
    await ask(form({ ...FULL, client_secret: 'a-wrong-secret-0123' }))
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    expect(Object.keys(claims).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'sub'])
    const log = supplier.logLines.join('')
    for (const secret of [token, CALLER.secret, 'a-wrong-secret-0123']) expect(log).not.toContain(secret)
  })
})

test('an independent client, openid-client, gets a token and calls the three endpoints', async () => {
  supplier = await startSupplier()
  const server = { issuer: supplier.url, token_endpoint: `${supplier.url}/connect/token` }
  for (const authentication of [oauth.ClientSecretPost, oauth.ClientSecretBasic]) {
    const config = new oauth.Configuration(server, CALLER.id, undefined, authentication(CALLER.secret))
    oauth.allowInsecureRequests(config)
    const { access_token, expires_in } = await oauth.clientCredentialsGrant(config)
    expect(expires_in).toBe(900)
    const call = async (path: string, body?: string) => {
      const headers = new Headers(body ? { 'content-type': 'application/json' } : {})
      const answer = await oauth.fetchProtectedResource(
        config,
        access_token,
        new URL(supplier.url + path),
        body ? 'POST' : 'GET',
        body,
        headers,
      )
      return answer.json()
    }
    expect(await call('/stores/nearest?latitude=-37.8&longitude=145&radius=10')).toMatchObject([{ id: 'S1' }])
    expect(await call('/stores/S2')).toMatchObject({ id: 'S2' })
    const body = JSON.stringify({ items: [{ itemId: 'A', storeId: 'S1', quantity: 2 }] })
    expect(await call('/request-prices', body)).toMatchObject([{ totalPrice: 25 }])
  }
})
