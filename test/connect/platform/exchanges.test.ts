import { expect, test } from 'vitest'
import * as z from 'zod'
import { createHttp, platform } from '../../../src/connect/index.ts'
import { createApi } from '../../../src/connect/platform/api.ts'
import { type Exchange, type ExchangeListener, observed } from '../../../src/connect/platform/exchanges.ts'
import { serve } from '../../support/ports.ts'

const CALL = { path: '/records', scope: 'records', schema: z.unknown() }
const SOURCE = {
  connection: { userId: 'ann', bxcontext: 'b' },
  accessToken: async () => 'token',
  refresh: async () => 'next token',
  grantedScopes: async () => null,
  noteCall: async () => {},
}

/**
 * The exchanges that a listener gets for a call that is answered with these statuses, and then not at all. Another listener fails.
 */
async function exchangesOf(...statuses: number[]) {
  const server = await serve((_req, res) => {
    const status = statuses.shift()
    if (status === undefined) res.destroy()
    else res.writeHead(status).end('{}')
  })
  const seen: Exchange[] = []
  const failing: ExchangeListener = () => {
    throw new Error('of the listener')
  }
  const http = createHttp()
  const listeners = new Set<ExchangeListener>([failing, (exchange) => seen.push(exchange)])
  const url = `http://127.0.0.1:${server.port}`
  const api = createApi({ platform, baseUrl: url, http: observed(http, 'api', listeners) })
  const outcome = await api.post(SOURCE, CALL, { name: 'A' }).catch(({ kind }) => kind)
  await http.close()
  await server.close()
  return { url, seen, outcome }
}

test('each attempt of a call is reported as it was sent and answered, with its connection; an error of a listener has no effect', async () => {
  const { url, seen, outcome } = await exchangesOf(401, 200)
  expect(outcome).toEqual({})
  expect(seen).toMatchObject(
    [
      ['token', 401],
      ['next token', 200],
    ].map(([token, status]) => ({
      purpose: 'api',
      context: SOURCE.connection,
      request: {
        method: 'POST',
        url: `${url}/records`,
        headers: { authorization: `Bearer ${token}` },
        body: '{"name":"A"}',
      },
      response: { status, text: '{}' },
    })),
  )
  for (const { at, ms } of seen) expect(at + ms).toBeLessThanOrEqual(Date.now())
})

test('a request without an answer is reported without one', async () => {
  expect(await exchangesOf()).toMatchObject({ seen: [{ response: undefined }], outcome: 'no_answer' })
})
