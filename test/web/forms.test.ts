import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { requestContext } from '../../src/connect/request-context.ts'
import { StoreUnavailableError } from '../../src/connect/store/store.ts'
import { createLog } from '../../src/runtime/log.ts'
import { type Running, startAll } from '../support/app.ts'
import { connected, signedIn } from '../support/flow.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'

let app: Running
let visitor: Visitor
beforeAll(async () => {
  app = await startAll()
  visitor = await connected(app, { name: 'ann', context: 'summit-supplies', email: 'priya@summit.example' })
})
afterAll(() => app.close())
beforeEach(() => fetch(`${app.platform}/sandbox/faults`, { method: 'DELETE' }))

const at = (path: string) => `${app.url}/connections/summit-supplies${path}`

describe('a notice', () => {
  test('is shown once, after what was done', async () => {
    const form = { name: 'Nora New' }
    const page = await visitor.follow(await visitor.post(at('/probe'), { form }))
    expect(page.text).toContain('The lead was created.')
    expect((await visitor.get(page.url)).text).not.toContain('The lead was created.')
  })

  test.each(['connected=summit-supplies', 'refreshed', 'disconnected'])(
    'cannot be forged by an address (?%s)',
    async (query) => {
      const page = await visitor.get(`${app.url}/connections?${query}`)
      expect(page.text).not.toContain('class="notice"')
    },
  )

  test.each(['builder-requests?accepted', 'catalogues/1?granted=X&approved'])(
    'cannot be forged by an address of a connection (%s)',
    async (path) => {
      expect((await visitor.get(at(`/${path}`))).text).not.toContain('class="notice"')
    },
  )
})

describe('a form that is rejected', () => {
  test('comes back with what was typed, and the message beside its field', async () => {
    const form = { name: 'Nora <New>', email: 'not an address', notes: 'long typed' }
    const page = await visitor.post(at('/probe'), { form })
    expect(page.status).toBe(400)
    expect(page.text).toContain('value="Nora &lt;New&gt;"')
    expect(page.text).toContain('long typed</textarea>')
    expect(page.text).toMatch(/id="lead-email"[^>]*aria-invalid="true" aria-describedby="lead-email-error"/)
    expect(page.text).toMatch(/id="lead-email-error" role="alert">Must be an email address/)
  })

  test('comes back with what was typed when the platform fails, and works when it is sent again', async () => {
    await app.fault('probe', '500', 1)
    const form = { name: 'Nora', suburb: 'Coogee' }
    const page = await visitor.post(at('/probe'), { form })
    expect(page.status).toBe(503)
    expect(page.text).toContain('value="Coogee"')
    expect(page.text).toMatch(/role="alert"[\s\S]*The platform returned an error/)
    expect((await visitor.post(at('/probe'), { form })).status).toBe(303)
  })

  test.each([
    ['/catalogues', { name: '', scope: 'Managed' }, 'catalogue-name-error', 'selected'],
    [
      '/catalogues/1/access-controls',
      { externalRef: 'no-hyphens' },
      'external-ref-error',
      'value="no-hyphens"',
    ],
  ])('at %s comes back as well', async (path, form, error, typed) => {
    const page = await visitor.post(at(path), { form: form as Record<string, string> })
    expect(page.status).toBe(400)
    expect(page.text).toContain(error)
    expect(page.text).toContain(typed)
  })

  test('to sign in comes back with the message', async () => {
    const page = await createVisitor().post(`${app.url}/sign-in`, {
      form: { name: ' ', returnTo: '/connections' },
    })
    expect(page.status).toBe(400)
    expect(page.text).toContain('Enter a name of 1 to 100 characters')
    expect(page.text).toContain('name="returnTo" value="/connections"')
  })

  test('is an error for a client that asks for JSON', async () => {
    const answer = await visitor.post(at('/probe'), { form: { name: '' }, accept: 'application/json' })
    expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_input', field: 'name' })
  })
})

test('an action that the platform fails can be tried again where it was', async () => {
  const owner = await connected(app, { name: 'owner' })
  await app.fault('refresh', '500', 1)
  const page = await owner.post(`${app.url}/connections/harbour-homes/refresh`)
  expect(page.status).toBe(503)
  expect(page.text).toMatch(
    /<form method="post" action="\/connections\/harbour-homes\/refresh">[\s\S]*Try again/,
  )
})

describe('an open page', () => {
  test('ends its stream of events when its user signs out', async () => {
    const supplier = await connected(app, {
      name: 'sam',
      context: 'summit-supplies',
      email: 'priya@summit.example',
    })
    const cookies = [...(supplier.cookies.get(new URL(app.url).host) ?? [])].map((pair) => pair.join('='))
    const stream = await fetch(at('/builder-requests/live'), { headers: { cookie: cookies.join('; ') } })
    expect(stream.status).toBe(200)
    const ended = stream.text()
    await supplier.post(`${app.url}/sign-out`)
    expect(await ended).toContain('event: done')
  })
})

describe('the id of a request', () => {
  /** The log lines that carry this id. */
  const linesOf = (requestId: string) =>
    app.logLines.map((line) => JSON.parse(line)).filter((line) => line.requestId === requestId)

  test.each([
    ['/connections/elsewhere/probe', 404],
    ['/nowhere', 404],
    ['/connections/summit-supplies/probe?top=0', 400],
  ])('of %s is in the log at info', async (path, status) => {
    const { requestId } = (await visitor.get(app.url + path, { accept: 'application/json' })).json()
    expect(linesOf(requestId)).toMatchObject([{ level: 'info', status, code: expect.any(String) }])
  })

  test('of a 5xx is in the log once at error, with its cause', async () => {
    await app.fault('probe', '500')
    const answer = await visitor.get(at('/probe'), { accept: 'application/json' })
    expect(answer.status).toBe(503)
    const lines = linesOf(answer.json().requestId)
    expect(lines).toMatchObject([{ level: 'error', status: 503, reason: 'the API answered 500' }])
  })

  test('of whoever notices a revocation is in the line that says so', async () => {
    const owner = await connected(app, { name: 'revoked-owner' })
    await app.sandbox('revoke')
    const path = `${app.url}/connections/harbour-homes/probe`
    const { requestId } = (await owner.get(path, { accept: 'application/json' })).json()
    expect(linesOf(requestId).map(({ msg }) => msg)).toContain('connection revoked')
  })

  test('is on the page as the header says it', async () => {
    const user = await signedIn(app, 'reader')
    const page = await user.get(`${app.url}/nowhere`)
    expect(page.text).toContain(page.headers.get('x-request-id'))
  })
})

test.each(['probe/a%2Fb', 'probe/a%5Cb', 'catalogues/..%2F..%2Faccounts', 'catalogues/a%5C..%5Cb'])(
  'an id with a slash or backslash never travels on (%s)',
  async (path) => {
    const before = (await app.calls()).length
    expect((await visitor.get(at(`/${path}`))).status).toBe(404)
    expect((await app.calls()).length).toBe(before)
  },
)

describe('a session', () => {
  test('that was ended by signing out is not brought back by a request that started before', async () => {
    const owner = await connected(app, { name: 'slow-owner' })
    await app.fault('refresh', 'slow', 1)
    const pressed = owner.post(`${app.url}/connections/harbour-homes/refresh`)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const before = createVisitor()
    for (const [host, jar] of owner.cookies) before.cookies.set(host, new Map(jar))
    await owner.post(`${app.url}/sign-out`)
    await pressed
    expect((await before.get(`${app.url}/connections`, { accept: 'application/json' })).status).toBe(401)
  }, 20_000)

  test('ends a fixed time after sign-in: what a user does afterwards does not renew it', async () => {
    const owner = await connected(app, { name: 'steady' })
    const answer = await owner.post(`${app.url}/connections/harbour-homes/refresh`)
    expect(answer.status).toBe(303)
    expect(answer.headers.getSetCookie()).toEqual([])
  })

  test('that cannot be read gives a form back to be sent again, with what was typed', async () => {
    const get = vi.spyOn(app.services.sessionStore, 'get').mockImplementationOnce((_sid, found) => {
      found(new StoreUnavailableError('away'))
    })
    const page = await visitor.post(at('/probe'), { form: { name: 'Nora', notes: 'long typed' } })
    get.mockRestore()
    expect(page.status).toBe(503)
    expect(page.text).toContain('name="notes" value="long typed"')
  })
})

test('a page that updates itself leaves the notice to the page that a person opens', async () => {
  await visitor.post(at('/probe'), { form: { name: 'Nora' } })
  const list = `${app.url}/connections`
  expect((await visitor.get(list, { headers: { 'x-live-update': '1' } })).text).not.toContain('was created')
  expect((await visitor.get(list)).text).toContain('was created')
})

test('the fields of one log line do not stick to the next ones of the same request', () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  requestContext.run({ requestId: 'r1' }, () => {
    log.info({ accessToken: 'secret', grantId: 'g' }, 'one')
    log.child({}, { redact: [] }).info('two')
  })
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ requestId: 'r1' }, { requestId: 'r1' }])
  expect(lines[1]).not.toMatch(/secret|grantId/)
})
