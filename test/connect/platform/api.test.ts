import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { platform } from '../../../src/connect/index.ts'
import { type Api, type Call, createApi, type Page } from '../../../src/connect/platform/api.ts'
import { idSchema } from '../../../src/connect/platform/contract.ts'
import {
  PlatformError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from '../../../src/connect/platform/errors.ts'
import { createHttp } from '../../../src/connect/platform/http.ts'
import type { CallOutcome, TokenSource } from '../../../src/connect/platform/token-source.ts'
import { serve } from '../../support/ports.ts'

const recordSchema = z.looseObject({ id: idSchema, name: z.string().nullish() })
const RECORDS = { path: '/records', scope: 'leads', schema: z.array(recordSchema) }
const RECORD = {
  path: '/records/1',
  scope: 'leads',
  notFound: 'There is no such record.',
  schema: z.unknown(),
}

type Handler = (req: IncomingMessage, res: ServerResponse) => void

const FIREWALL = '<!DOCTYPE html><title>Blocked</title>'

let server: Awaited<ReturnType<typeof serve>>
let handlers: Handler[]
let requests: { url: string; authorization: string | undefined; method: string }[]
let api: Api
// Most tests don't depend on time, however busy the machine is.
const http = createHttp({ stepTimeoutMs: 60_000, deadlineMs: 60_000 })

beforeAll(async () => {
  server = await serve((req, res) => {
    requests.push({ url: req.url ?? '', authorization: req.headers.authorization, method: req.method ?? '' })
    const handler = handlers.length > 1 ? handlers.shift() : handlers[0]
    handler?.(req, res)
  })
  api = createApi({ platform, baseUrl: `http://127.0.0.1:${server.port}/base//`, http, deadlineMs: 60_000 })
})
afterAll(async () => {
  await server.close()
  await http.close()
})
beforeEach(() => {
  requests = []
  handlers = []
})

/** A source whose refreshed tokens are `refreshed-1`, `refreshed-2` ... It keeps how calls ended. */
function source(granted: string[] | null = null) {
  let refreshes = 0
  const noted: CallOutcome[] = []
  return {
    accessToken: async () => 'token',
    refresh: async () => `refreshed-${++refreshes}`,
    refreshes: () => refreshes,
    grantedScopes: async () => granted,
    noteCall: async (outcome: CallOutcome) => void noted.push(outcome),
    noted,
  }
}
/** A page of records, or the error. */
const list = (from: TokenSource = source(), page: Page = {}) => api.list(from, RECORDS, page)

const json =
  (body: unknown, status = 200, headers: Record<string, string | string[]> = {}): Handler =>
  (_req, res) =>
    void res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

describe('an API call', () => {
  test('sends the bearer token, OData paging and the filter, and reads the total from its header', async () => {
    handlers = [json([{ id: '7', name: 'A', extra: true }], 200, { 'x-odata-total-count': '41' })]
    const page = await list(source(), {
      top: 5,
      skip: 10,
      orderBy: 'createdAt desc',
      filter: "name eq 'A & B'",
    })
    expect(page).toMatchObject({ items: [{ id: '7', name: 'A', extra: true }], total: 41 })
    const { url, authorization } = requests[0] as (typeof requests)[0]
    expect(authorization).toBe('Bearer token')
    const { pathname, searchParams } = new URL(url, 'http://x')
    expect(pathname).toBe('/base/records')
    expect(Object.fromEntries(searchParams)).toEqual({
      $top: '5',
      $skip: '10',
      $orderby: 'createdAt desc',
      $filter: "name eq 'A & B'",
      $count: 'true',
    })
  })

  test.each<[what: string, ids: string[], reported: string, total: number | null, next: number | null]>([
    ['that ends at the reported total is the last', ['7', '8'], '12', 12, null],
    ['that ends before the reported total has a next one', ['7', '8'], '13', 13, 12],
    ['without a total has a next one', ['7'], '', null, 11],
    ['with more rows than the reported total ignores it', ['7', '8'], '11', null, 12],
    ['that is empty is the last, whatever the total is', [], '5', 5, null],
    ['that is empty ignores a total that begins with digits', [], '5 of 6', null, null],
    ['that is empty ignores a total that ends with digits', [], 'about 6', null, null],
  ])('for a page %s', async (_what, ids, reported, total, next) => {
    handlers = [
      json(
        ids.map((id) => ({ id })),
        200,
        { 'x-odata-total-count': reported },
      ),
    ]
    const page = await list(source(), { skip: 10 })
    expect([page.total, page.next?.skip ?? null]).toEqual([total, next])
    expect(requests[0]?.url).toBe('/base/records?$top=25&$skip=10&$count=true')
  })

  test('for a page that begins like the one before ends the list: the platform ignores $skip', async () => {
    handlers = [json([{ id: '7' }])]
    const { next } = await list()
    expect(await list(source(), next ?? {})).toMatchObject({ items: [], next: null, repeated: true })
  })

  test('that takes longer than others has its own time, and is sent once', async () => {
    const quick = createHttp({ stepTimeoutMs: 50, deadlineMs: 100 })
    const client = createApi({ platform, baseUrl: `http://127.0.0.1:${server.port}`, http: quick })
    handlers = [(_req, res) => void setTimeout(() => res.writeHead(200).end('{}'), 1_000)]
    expect(await client.get(source(), { ...RECORD, timeoutMs: 60_000 })).toEqual({})
    await expect(client.get(source(), { ...RECORD, timeoutMs: 200 })).rejects.toMatchObject({
      kind: 'no_answer',
    })
    expect(requests).toHaveLength(2)
    await quick.close()
  })

  describe('whose errors have a form of their own', () => {
    class GoneError extends PlatformError {
      readonly code = 'not_found'
      readonly status = 404
    }
    const call: Call<unknown> = {
      ...RECORD,
      parseError: ({ text }, said) => (text.includes('"GONE"') ? new GoneError(said) : undefined),
    }

    test.each([200, 400, 403, 404, 500])('throws what its own function returns for a %s', async (status) => {
      handlers = [json({ fault: 'GONE', echo: 'token' }, status)]
      const failed = expect(api.get(source(), call)).rejects
      await failed.toMatchObject({ name: 'GoneError', message: 'fault: GONE; echo: …' })
      expect(requests).toHaveLength(1)
    })

    test.each([303, 500, 503])(
      'has an unknown outcome after a write that is answered %s, whatever its own function returns',
      async (status) => {
        handlers = [json({ fault: 'GONE' }, status)]
        await expect(api.post(source(), call, {})).rejects.toMatchObject({ name: 'OutcomeUnknownError' })
      },
    )

    test.each([200, 400, 429])(
      'throws what its own function returns for a write that is answered %s',
      async (status) => {
        handlers = [json({ fault: 'GONE' }, status)]
        await expect(api.post(source(), call, {})).rejects.toMatchObject({ name: 'GoneError' })
      },
    )

    test('is read as usual where that function returns nothing, and asks it nothing about a rejected token', async () => {
      handlers = [json({ fault: 'GONE' }, 401), json({ fault: 'other' }, 404)]
      await expect(api.get(source(), call)).rejects.toMatchObject({ name: 'NotFoundError' })
      expect(requests).toHaveLength(2)
    })
  })

  test('for a list whose path has a query is an error of the caller, and not sent', async () => {
    const call = { ...RECORDS, path: '/records?status=New' }
    await expect(api.list(source(), call, {})).rejects.toThrow(TypeError)
    expect(requests).toEqual([])
  })

  test.each([
    ['POST', (api: Api) => api.post(source(), RECORD, { name: 'B' }), '{"name":"B"}'],
    ['PUT', (api: Api) => api.put(source(), RECORD, { name: 'B' }), '{"name":"B"}'],
    ['PATCH', (api: Api) => api.patch(source(), RECORD, { name: 'B' }), '{"name":"B"}'],
    ['DELETE', (api: Api) => api.delete(source(), RECORD), ''],
  ])('changes a record by %s, once, even if the response is lost', async (method, call, sent) => {
    const bodies: string[] = []
    const receive = async (req: IncomingMessage) => void bodies.push(await text(req))
    handlers = [
      (req, res) => void receive(req).then(() => res.writeHead(204).end()),
      (req, res) => void receive(req).then(() => res.destroy()),
    ]
    expect(await call(api)).toBeUndefined()
    await expect(call(api)).rejects.toMatchObject({ code: 'outcome_unknown' })
    expect(requests.map((request) => `${request.method} ${request.url}`)).toEqual([
      `${method} /base/records/1`,
      `${method} /base/records/1`,
    ])
    expect(bodies).toEqual([sent, sent])
  })

  test.each(['OK', '', '<result>accepted</result>'])(
    'whose answer is not read accepts a 2xx with the body %j',
    async (body) => {
      handlers = [(_req, res) => void res.writeHead(200).end(body)]
      await api.post(source(), RECORD, {})
      expect(requests).toHaveLength(1)
    },
  )

  test('whose answer is not read does not accept a web page, which only a proxy answers', async () => {
    handlers = [(_req, res) => void res.writeHead(200).end(FIREWALL)]
    await expect(api.post(source(), RECORD, {})).rejects.toMatchObject({
      code: 'outcome_unknown',
    })
  })

  test.each(['.', '..', '%2e%2e/x', '.%2E', '..\\x', 'a%2Fb', 'a%5Cb', '..%2Fx'])(
    'of a path that leads elsewhere (/records/%s) is not sent: not_found',
    async (id) => {
      const path = `/records/${id}`
      await expect(api.get(source(), { ...RECORD, path })).rejects.toMatchObject({ code: 'not_found' })
      expect(requests).toEqual([])
    },
  )
})

describe('what an API answer means', () => {
  test('401: refreshes the token once and repeats the call once', async () => {
    handlers = [json({}, 401), json([])]
    await list()
    expect(requests.map(({ authorization }) => authorization)).toEqual(['Bearer token', 'Bearer refreshed-1'])
  })

  test('401 again after a refresh: rejected, without another attempt', async () => {
    handlers = [json({}, 401)]
    const from = source()
    await expect(list(from)).rejects.toMatchObject({ code: 'platform_rejected', status: 502 })
    expect(from.refreshes()).toBe(1)
    expect(requests).toHaveLength(2)
  })

  test('401 and a failed refresh: the error of the refresh', async () => {
    handlers = [json({}, 401)]
    const failing = { ...source(), refresh: () => Promise.reject(new Error('error of the vault')) }
    await expect(list(failing)).rejects.toThrow('error of the vault')
  })

  test('403 whose challenge says that the token is invalid: as 401', async () => {
    const challenge = { 'www-authenticate': 'Bearer realm="x", error="invalid_token"' }
    const unquoted = { 'www-authenticate': 'Bearer error=invalid_token' }
    handlers = [json({}, 403, unquoted), json([]), json({}, 403, challenge)]
    await list()
    expect(requests.map(({ authorization }) => authorization)).toEqual(['Bearer token', 'Bearer refreshed-1'])
    const from = source()
    await expect(list(from)).rejects.toMatchObject({ code: 'platform_rejected' })
    expect(from.noted).toEqual([{ result: 'unavailable', kind: 'rejected' }])
  })

  test.each<[what: string, challenge: string | string[] | null, granted: string[] | null, missing: string[]]>(
    [
      [
        'those of the challenge',
        'Bearer error="insufficient_scope", scope="leads.write"',
        null,
        ['leads.write'],
      ],
      [
        'those of the second challenge',
        ['Basic realm="x"', 'Bearer scope="leads.write"'],
        null,
        ['leads.write'],
      ],
      ['several', 'Bearer scope="leads  catalogues"', null, ['leads', 'catalogues']],
      ['none that was granted', 'Bearer scope="leads catalogues"', ['leads'], ['catalogues']],
      ['those that were granted, if it names no other', 'Bearer scope="leads"', ['leads'], ['leads']],
      ['none that contains the access token', 'Bearer scope="leads token"', null, ['leads']],
      ['without a challenge, the needed one if it was not granted', null, ['catalogues'], ['leads']],
      ['none if it was', null, ['leads'], []],
      ['none if it is not known what was', null, null, []],
    ],
  )('403 names the missing scopes, and never refreshes: %s', async (_what, challenge, granted, scopes) => {
    handlers = [json({}, 403, challenge === null ? {} : { 'www-authenticate': challenge })]
    const from = source(granted)
    await expect(list(from)).rejects.toMatchObject({
      code: 'insufficient_scope',
      status: 403,
      scopes,
    })
    expect(from.noted).toEqual([{ result: 'forbidden', call: 'GET leads', scopes }])
    expect(from.refreshes()).toBe(0)
  })

  test('404: not found for one resource; rejected for a list, which always exists', async () => {
    handlers = [json({}, 404)]
    await expect(list()).rejects.toMatchObject({ code: 'platform_rejected' })
    await expect(api.get(source(), RECORD)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('record'),
    })
  })

  test('a rejection has the texts of the answer, at most 500 characters, and no credentials', async () => {
    const message = 'items.17: no price (token), sent as Bearer other'
    const errors = { 'items[17].price': ['x'.repeat(600)] }
    handlers = [json({ message, authorization: 'ApiKey 1', errors }, 400)]
    const error = await list().catch((thrown: unknown) => thrown)
    const said = error instanceof PlatformRejectedError ? error.platformMessage : ''
    expect(said).toMatch(
      /^message: items\.17: no price \(…\), sent as Bearer …; errors\.items\[17\]\.price\.0: x+$/,
    )
    expect(said).toHaveLength(500)
  })

  test('a rejection repeats no header of the credential, but short values, which are not secret', async () => {
    handlers = [json({ message: 'the key eightchr is not for 1234567' }, 400)]
    const from = { ...source(), headers: { 'x-key': 'eightchr', 'x-tenant': '1234567' } }
    const said = { platformMessage: 'message: the key … is not for 1234567' }
    await expect(list(from)).rejects.toMatchObject(said)
  })

  test.each([400, 409, 422])('%i: rejected, and not retried', async (status) => {
    handlers = [json({ secret: 'detail' }, status)]
    await expect(list()).rejects.toMatchObject({ code: 'platform_rejected', status: 502 })
    expect(requests).toHaveLength(1)
  })

  test.each<[what: string, Handler]>([
    ['500', json({}, 500)],
    ['a dropped connection', (_req, res) => void res.destroy()],
  ])('%s once: a read is retried and works', async (_what, handler) => {
    handlers = [handler, json([])]
    expect(await list()).toMatchObject({ items: [], total: null })
    expect(requests).toHaveLength(2)
  })

  /** A list by a client with timeouts of its own, in ms. */
  async function hurriedList(stepTimeoutMs: number, attemptMs: number, deadlineMs: number) {
    const http = createHttp({ stepTimeoutMs, deadlineMs: attemptMs })
    const hurried = createApi({ platform, baseUrl: `http://127.0.0.1:${server.port}`, http, deadlineMs })
    return hurried.list(source(), RECORDS, {}).finally(http.close)
  }

  test('a stall once: a read is retried and works', async () => {
    handlers = [() => {}, json([])]
    expect(await hurriedList(1_000, 10_000, 30_000)).toMatchObject({ items: [], total: null })
  })

  test.each<[what: string, Handler]>([
    ['a stall', () => {}],
    [
      'a response that never ends',
      (_req, res) => {
        const drip = setInterval(() => (res.destroyed ? clearInterval(drip) : res.write(' ')), 50)
      },
    ],
  ])('%s is over at the deadline: unavailable', async (_what, handler) => {
    handlers = [handler]
    await expect(hurriedList(300, 1_000, 2_000)).rejects.toMatchObject({ kind: 'no_answer' })
    expect(requests.length).toBeLessThanOrEqual(3)
  })

  test.each<[what: string, Handler, kind: string, tries: number]>([
    ['500', json({}, 500), 'error', 3],
    ['429', json({}, 429), 'busy', 3],
    ['a teapot', json({}, 418), 'error', 1],
    ['the page of a firewall', (_req, res) => void res.writeHead(403).end(FIREWALL), 'error', 1],
    ['HTML instead of JSON', (_req, res) => void res.end('<h1>Down</h1>'), 'unreadable', 1],
    ['half of JSON', (_req, res) => void res.end('[{"id":'), 'unreadable', 1],
  ])('%s permanently: unavailable, and noted', async (_what, handler, kind, tries) => {
    handlers = [handler]
    const from = source()
    await expect(list(from)).rejects.toMatchObject({ code: 'platform_unavailable', status: 503, kind })
    expect(requests.length).toBeLessThanOrEqual(tries)
    expect(from.noted).toEqual([{ result: 'unavailable', kind }])
  })

  test('a text is no empty answer: a schema that allows an empty one refuses it', async () => {
    const call = { ...RECORDS, schema: z.object({}).optional() }
    handlers = [(_req, res) => void res.end()]
    expect(await api.post(source(), call, {})).toBeUndefined()
    handlers = [(_req, res) => void res.end('2 of 3 accepted')]
    const said = { kind: 'unreadable', platformMessage: '2 of 3 accepted' }
    await expect(api.post(source(), call, {})).rejects.toMatchObject(said)
  })

  test('429 with a short Retry-After is waited for', async () => {
    handlers = [json({}, 429, { 'retry-after': '1' }), json([])]
    await list()
    expect(requests).toHaveLength(2)
  })

  test('429 with a Retry-After beyond the deadline fails at once', async () => {
    handlers = [json({}, 429, { 'retry-after': '60' })]
    await expect(list()).rejects.toMatchObject({
      code: 'platform_unavailable',
      retryAfterMs: 60_000,
    })
    expect(requests).toHaveLength(1)
  })

  test.each(['-5', '-1.5', 'soon', '0', '10, 20', new Date(0).toUTCString()])(
    'Retry-After of %s is no reason to repeat without a pause',
    async (value) => {
      handlers = [json({}, 503, { 'retry-after': value })]
      const startedAt = performance.now()
      await expect(list()).rejects.toMatchObject({ code: 'platform_unavailable' })
      expect(performance.now() - startedAt).toBeGreaterThan(200)
    },
  )

  test('an id that is too large a number is refused: it could have become another one', async () => {
    handlers = [(_req, res) => void res.end('[{"id":7,"name":"A"},{"id":9007199254740993,"name":"B"}]')]
    await expect(list()).rejects.toMatchObject({ code: 'platform_rejected', field: '1.id' })
  })

  test.each([
    ['IMF-fixdate', 'Sun, 06 Nov 2033 08:49:37 GMT'],
    ['RFC 850', 'Sunday, 06-Nov-33 08:49:37 GMT'],
    ['asctime', 'Sun Nov  6 08:49:37 2033'],
  ])('Retry-After as a date (%s) is measured by the clock of the platform', async (_form, value) => {
    const date = 'Sun, 06 Nov 2033 08:48:37 GMT'
    handlers = [json({}, 503, { date, 'retry-after': value })]
    await expect(list()).rejects.toMatchObject({ retryAfterMs: 60_000 })
  })

  test.each([
    ['an object instead of a list', { items: [] }, 'the whole answer'],
    ['a record without an id', [{ name: 'A' }], '0.id'],
    ['a record whose name is a number', [{ id: '1' }, { id: '2', name: 7 }], '1.name'],
  ])('%s: rejected, naming the field', async (_what, body, field) => {
    handlers = [json(body)]
    await expect(list()).rejects.toMatchObject({ code: 'platform_rejected', field })
  })

  test('a redirect is not followed: the token goes nowhere else', async () => {
    let elsewhere = 0
    const other = await serve((_req, res) => {
      elsewhere++
      res.end()
    })
    handlers = [json({}, 302, { location: `http://127.0.0.1:${other.port}/` })]
    await expect(list()).rejects.toMatchObject({ code: 'platform_unavailable' })
    expect(elsewhere).toBe(0)
    await other.close()
  })
})

describe('a write', () => {
  const write = (method: 'post' | 'put' | 'patch') => api[method](source(), RECORD, { name: 'B' })
  const methods = ['post', 'put', 'patch'] as const

  test.each<[what: string, body: unknown]>([
    ['isSuccessful: false', { isSuccessful: false, message: 'the catalogue is closed' }],
    ['an error', { error: { code: 'closed', message: 'the catalogue is closed' } }],
    ['an error as text', { error: 'the catalogue is closed' }],
  ])(
    'that is answered 200 with %s is refused, in the words of the platform, and a read is not',
    async (_what, body) => {
      handlers = [json(body)]
      expect(await api.get(source(), RECORD)).toEqual(body)
      for (const method of methods) {
        handlers = [json(body)]
        await expect(write(method)).rejects.toMatchObject({
          code: 'platform_rejected',
          platformMessage: expect.stringContaining('the catalogue is closed'),
        })
      }
    },
  )

  test.each([{ isSuccessful: true }, { error: null }, { error: {} }, { error: '' }, { errors: [] }, {}])(
    'that is answered 200 with %j is accepted',
    async (body) => {
      handlers = [json(body)]
      expect(await write('post')).toEqual(body)
    },
  )

  test.each<[what: string, Handler]>([
    ['no answer', (_req, res) => void res.destroy()],
    ['500', json({}, 500)],
    ['503 with Retry-After', json({}, 503, { 'retry-after': '2' })],
    ['a page', (_req, res) => void res.writeHead(200).end(FIREWALL)],
    ['a redirect', json({}, 303, { location: '/records/2' })],
  ])('that is followed by %s may have been carried out: the error says so', async (_what, handler) => {
    for (const method of methods) {
      handlers = [handler]
      await expect(write(method)).rejects.toMatchObject({ code: 'outcome_unknown', status: 503 })
    }
    const patient = api.post(source(), { ...RECORD, timeoutMs: 60_000 }, {})
    await expect(patient).rejects.toMatchObject({ code: 'outcome_unknown' })
    expect(requests).toHaveLength(4)
  })

  test('whose answer has an unexpected format may have been carried out, also after a 401', async () => {
    handlers = [json({}, 401), json({ id: {} })]
    const call = { ...RECORD, schema: recordSchema }
    await expect(api.post(source(), call, {})).rejects.toMatchObject({ code: 'outcome_unknown', status: 502 })
  })

  test.each([400, 409, 423, 429])('that is answered %i was not carried out', async (status) => {
    handlers = [json({}, status)]
    const error = await write('post').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(PlatformError)
    expect(error).not.toMatchObject({ code: 'outcome_unknown' })
  })

  test('for which there is no new token was not carried out', async () => {
    handlers = [json({}, 401)]
    const refresh = () => Promise.reject(new PlatformUnavailableError('no_answer', 'down'))
    const refused = api.post({ ...source(), refresh }, RECORD, {})
    await expect(refused).rejects.toMatchObject({ code: 'platform_unavailable' })
  })
})

describe('an answer of 400 kB that is nested 200,000 deep', () => {
  const deep = (open: string, close: string) => open.repeat(200_000) + close.repeat(200_000)
  const TEXTS = [
    deep('[', ']'),
    deep('{"a":', '}').replace('}', '1}'),
    `[{"id":"1","extra":${deep('[', ']')}}]`,
  ]

  test.each([200, 201, 400, 401, 403, 404, 409, 422, 500])('is an error with a code (%i)', async (status) => {
    for (const text of TEXTS) {
      handlers = [(_req, res) => void res.writeHead(status).end(text)]
      for (const call of [() => list(), () => api.post(source(), { ...RECORD, schema: recordSchema }, {})])
        await expect(call()).rejects.toBeInstanceOf(PlatformError)
    }
  })
})

test('an answer of an unexpected format is described by its texts, or by its beginning, without secrets', async () => {
  const nested = { apiKey: 'k', session_secrets: { a: 's' }, isOpen: false }
  for (const [text, said] of [
    [JSON.stringify({ name: 'A', accessToken: 't', nested }), 'name: A; nested.isOpen: false'],
    ['[7', '[7'],
    [FIREWALL, ''],
  ]) {
    handlers = [(_req, res) => void res.end(text)]
    await expect(list()).rejects.toMatchObject({ platformMessage: said })
  }
})

test('that this app sends no request for a token says nothing about the platform', async () => {
  handlers = [json({}, 401)]
  const refresh = () => Promise.reject(new PlatformUnavailableError('paused', 'this process is stopping'))
  const from = { ...source(), refresh }
  await expect(list(from)).rejects.toMatchObject({ kind: 'paused' })
  expect(from.noted).toEqual([])
})

test('an error about the request itself ends an outage; a token that stays rejected is a problem', async () => {
  const from = source()
  handlers = [json({}, 404), json({}, 401)]
  for (let time = 0; time < 2; time++) await api.get(from, RECORD).catch(() => {})
  expect(from.noted).toMatchObject([{ result: 'ok' }, { result: 'unavailable', kind: 'rejected' }])
})
