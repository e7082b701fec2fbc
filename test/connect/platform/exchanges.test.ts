import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { platform } from '../../../src/connect/index.ts'
import { createApi } from '../../../src/connect/platform/api.ts'
import { type Exchange, type ExchangeListener, observed } from '../../../src/connect/platform/exchanges.ts'
import { createHttp } from '../../../src/connect/platform/http.ts'
import { serve } from '../../support/ports.ts'

const CALL = { path: '/records', scope: 'records', schema: z.unknown() }
const SOURCE = {
  connection: { userId: 'ann', bxcontext: 'b' },
  accessToken: async () => 'token',
  refresh: async () => 'next token',
  grantedScopes: async () => null,
  noteCall: async () => {},
}

let statuses: number[]
let server: Awaited<ReturnType<typeof serve>>
const http = createHttp()
beforeAll(async () => {
  server = await serve((_req, res) => {
    const status = statuses.shift()
    if (status === undefined) res.destroy()
    else res.writeHead(status).end('{}')
  })
})
afterAll(async () => {
  await http.close()
  await server.close()
})

/** A client whose exchanges are collected. */
function watched() {
  const seen: Exchange[] = []
  const listeners = new Set<ExchangeListener>([(exchange) => seen.push(exchange)])
  const baseUrl = `http://127.0.0.1:${server.port}`
  const api = createApi({ platform, baseUrl, http: observed(http, 'api', listeners) })
  return { api, seen, listeners }
}

test('each attempt of a call is reported as it was sent and answered, with its connection', async () => {
  statuses = [401, 200]
  const { api, seen } = watched()
  await api.post(SOURCE, CALL, { name: 'A' })
  expect(seen).toMatchObject(
    [
      ['token', 401],
      ['next token', 200],
    ].map(([token, status]) => ({
      purpose: 'api',
      context: SOURCE.connection,
      request: {
        method: 'POST',
        url: `http://127.0.0.1:${server.port}/records`,
        headers: { authorization: `Bearer ${token}` },
        body: '{"name":"A"}',
      },
      response: { status, text: '{}' },
    })),
  )
})

test('a request without an answer is reported without one, and its error stays', async () => {
  statuses = []
  const { api, seen } = watched()
  await expect(api.post(SOURCE, CALL, {})).rejects.toMatchObject({ kind: 'no_answer' })
  expect(seen).toMatchObject([{ response: undefined }])
})

test('an error of a listener has no effect', async () => {
  statuses = [200]
  const { api, seen, listeners } = watched()
  listeners.add(() => {
    throw new Error('of the listener')
  })
  await api.get(SOURCE, CALL)
  expect(seen).toHaveLength(1)
})
