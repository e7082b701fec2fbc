import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { requestContext } from '../../../src/connect/index.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { format } from '../../../src/web/pages/format.ts'
import { texts } from '../../../src/web/texts.ts'
import { type Running, startAll } from '../../support/app.ts'
import { connected, signedIn, toCallback, toConsent } from '../../support/flow.ts'
import { shown } from '../../support/pages.ts'
import { createVisitor, type Visitor } from '../../support/visitor.ts'

let app: Running
let visitor: Visitor
beforeAll(async () => {
  app = await startAll({}, { slowMs: 500 })
  visitor = await connected(app)
})
afterAll(() => app.close())
beforeEach(() => fetch(`${app.platform}/sandbox/faults`, { method: 'DELETE' }))

const at = (path: string) => `${app.url}/connections/harbour-homes${path}`

test('every form sends something, since text browsers send one without fields as GET', () => {
  const templates = ['views', 'src/cli/template/views'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.eta'))
      .map((name) => readFileSync(join(folder, name), 'utf8')),
  )
  const forms = templates.join('\n').match(/<form\b[\s\S]*?<\/form>/g) ?? []
  expect(forms.length).toBeGreaterThan(10)
  // Only the fields that a form sends have a name.
  expect(forms.filter((form) => !/\sname="/.test(form))).toEqual([])
})

describe('a notice', () => {
  test('is shown once, on the page after the action', async () => {
    const form = { name: 'Nora New' }
    const page = await visitor.follow(await visitor.post(at('/probe'), { form }))
    expect(page.text).toContain('The record was created.')
    expect((await visitor.get(page.url)).text).not.toContain('The record was created.')
  })

  test('is for the user who acted, and for nobody who signs in next in this browser', async () => {
    const user = await connected(app, { name: 'first' })
    await user.post(at('/probe'), { form: { name: 'Nora New' } })
    await user.post(`${app.url}/sign-in`, { form: { name: 'second' } })
    expect((await user.get(`${app.url}/connections`)).text).not.toContain('The record was created.')
  })

  test.each(['connected=harbour-homes', 'refreshed', 'disconnected'])(
    'cannot be forged by an address (?%s)',
    async (query) => {
      const page = await visitor.get(`${app.url}/connections?${query}`)
      expect(page.text).not.toContain('class="notice"')
    },
  )

  test('cannot be forged by an address of a connection', async () => {
    expect((await visitor.get(at('/probe?created'))).text).not.toContain('class="notice"')
  })
})

test('every form with fields shows an error at the field, and a sentence above', () => {
  const templates = ['views', 'src/cli/template/views'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.eta') && !/^(sandbox|public)/.test(name))
      .map((name) => readFileSync(join(folder, name), 'utf8')),
  )
  const forms = (templates.join('\n').match(/<form method="post"[\s\S]*?<\/form>/g) ?? []).filter((form) =>
    /<(input(?! type="hidden")|select|textarea)/.test(form),
  )
  expect(forms.length).toBeGreaterThan(2)
  for (const form of forms)
    for (const part of [/app\/form-error'/, /app\/field-error'/, /invalid\(/]) expect(form).toMatch(part)
})

describe('a rejected form', () => {
  test('comes back with what was typed, and the message beside its field', async () => {
    const name = `${'x'.repeat(20)} <New>`
    const page = await visitor.post(at('/probe'), { form: { name } })
    expect(page.status).toBe(400)
    expect(page.text).toContain(`value="${'x'.repeat(20)} &lt;New&gt;"`)
    expect(page.text).toMatch(/id="name"[^>]*aria-invalid="true" aria-describedby="name-error"/)
    expect(page.text).toMatch(/id="name-error" role="alert">Must have at most 20 characters/)
    expect(page.text).toContain(`<title>${texts.layout.error('Probe')} `)
    expect(page.text).toMatch(new RegExp(`${texts.form.check}[\\s\\S]*aria-invalid`))
    // The focus is on the field, and nowhere else.
    expect(page.text.match(/ autofocus/g)).toHaveLength(1)
  })

  test('comes back with what was typed if the platform fails, and works when it is sent again', async () => {
    await app.fault('probe', '500', 1)
    const form = { name: 'Nora' }
    const page = await visitor.post(at('/probe'), { form })
    expect(page.status).toBe(503)
    expect(page.text).toContain('value="Nora"')
    expect((await visitor.post(at('/probe'), { form })).status).toBe(303)
  })

  test('to sign in comes back with the message', async () => {
    const page = await createVisitor().post(`${app.url}/sign-in`, {
      form: { name: ' ', returnTo: '/connections' },
    })
    expect(page.status).toBe(400)
    expect(page.text).toContain(shown(format.capital(texts.signIn.nameRule)))
    expect(page.text).toContain('name="returnTo" value="/connections"')
  })

  test('is an error for a client that asks for JSON', async () => {
    const answer = await visitor.post(at('/probe'), { form: { name: '' }, accept: 'application/json' })
    expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_input', field: 'name' })
  })
})

describe('a form that is sent after the session has ended', () => {
  const PAGE = '/connections/harbour-homes/probe'
  /** A visitor whose session has ended, with the page of the form still open. */
  async function signedOut(): Promise<Visitor> {
    const user = await connected(app, { name: 'away' })
    await user.post(`${app.url}/sign-out`)
    return user
  }

  test('gets a page that says that nothing was saved, and leads back to the form after the sign-in', async () => {
    const user = await signedOut()
    const page = `${PAGE}?top=5`
    const headers = { referer: app.url + page }
    const answer = await user.post(at('/probe'), { form: { name: 'Nora Typed' }, headers })
    expect(answer.status).toBe(401)
    expect(answer.text).toContain(shown(texts.signIn.notSaved))
    expect(answer.text).not.toContain('Nora Typed')
    expect(answer.text).toContain(`name="returnTo" value="${page}"`)
    const form = { name: 'away', returnTo: page }
    const back = await user.follow(await user.post(`${app.url}/sign-in`, { form }))
    expect(new URL(back.url).pathname + new URL(back.url).search).toBe(page)
    expect(back.text).toContain('<form')
  })

  test.each([
    ['another site has sent it', 'https://evil.example/x'],
    ['no page is named', ''],
  ])('leads to the connections if %s', async (_what, from) => {
    const user = await signedOut()
    const headers = from ? { referer: new URL(from, app.url).href } : {}
    const { text } = await user.post(at('/probe'), { form: { name: 'Nora' }, headers })
    expect(text).toContain('name="returnTo" value="/connections"')
  })

  test('is 401 for a client that asks for JSON', async () => {
    const user = await signedOut()
    const answer = await user.post(at('/probe'), { form: { name: 'Nora' }, accept: 'application/json' })
    expect(answer.json()).toMatchObject({ status: 401, code: 'unauthenticated' })
  })
})

test('a page that waits for the platform says when to try again, and leaves it to its reader', async () => {
  await app.fault('probe', '429', 10)
  const page = await visitor.get(at('/probe'))
  expect(page.headers.get('refresh')).toBeNull()
  expect(page.text).toContain(shown(texts.tryAgain(Number(page.headers.get('retry-after')))))
  expect(page.text).toContain(`href="/connections/harbour-homes/probe">${shown(texts.errorPage.tryAgain)}`)
})

describe('an error page', () => {
  test('names the business that it is about', async () => {
    const owner = await connected(app, { name: 'namer' })
    await app.fault('probe', '500', 3)
    for (const path of ['/probe', '/probe?top=0', '/nowhere'])
      expect((await owner.get(at(path))).text, path).toMatch(/class="crumbs"[\s\S]*Harbour Homes[\s\S]*<h1>/)
    await owner.post(at('/disconnect'))
    // The address of a business that is no longer connected, and an address that cannot be decoded.
    expect((await owner.get(at('/probe'))).text).not.toContain('class="crumbs"')
    expect((await owner.get(`${app.url}/connections/%ZZ/probe`)).status).toBe(400)
  })

  test('about an app that the platform rejects has no button that fails again, and tells who knows', async () => {
    const user = await signedIn(app, 'unlucky')
    await app.fault('exchange', 'invalid_client', 1)
    const page = await user.follow(await user.get(await toCallback(app, user)))
    expect(page.text).toContain(`<h1>${shown(texts.connectErrors.misconfigured.title)}</h1>`)
    expect(page.text).toContain(shown(texts.connectErrors.misconfigured.detail))
    expect(page.text).not.toContain('action="/connect"')
    expect(page.text).toMatch(/<a class="button[^>]*href="\/">/)
  })

  test('about a consent that was denied says once that nothing has changed, and has a way on', async () => {
    const user = await signedIn(app, 'denier')
    const { url } = await toConsent(app, user)
    const page = await user.follow(await user.post(url, { form: { answer: 'deny' } }))
    expect(page.text.split(shown(texts.connectErrors.consent_denied.title))).toHaveLength(3)
    expect(page.text.split(shown(texts.connectErrors.consent_denied.detail))).toHaveLength(2)
    expect(page.text).toContain('action="/connect"')
    expect(page.text).toContain(shown(texts.sendOn.text(`${app.url}/connect`)))
  })
})

test('the error page of an action that failed on the platform leads back to the page of its button', async () => {
  const owner = await connected(app, { name: 'owner' })
  await app.fault('refresh', '500', 1)
  const headers = { referer: `${app.url}/connections?q=1` }
  const page = await owner.post(at('/refresh'), { headers })
  expect(page.status).toBe(503)
  expect(page.text).toContain(`href="/connections?q=1">${shown(texts.errorPage.tryAgain)}`)
})

describe('the id of a request', () => {
  /** The log lines that carry this id. */
  const linesOf = (requestId: string) =>
    app.logLines.map((line) => JSON.parse(line)).filter((line) => line.requestId === requestId)

  test.each([
    ['/connections/elsewhere/probe', 404],
    ['/nowhere', 404],
    ['/connections/harbour-homes/probe?top=0', 400],
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

  test('that notices a revocation is in the log line about it', async () => {
    const owner = await connected(app, { name: 'revoked-owner' })
    await app.sandbox('revoke')
    const path = at('/probe')
    const { requestId } = (await owner.get(path, { accept: 'application/json' })).json()
    expect(linesOf(requestId).map(({ msg }) => msg)).toContain('access to an account has ended')
  })

  test('is the same on an error page and in its header', async () => {
    const user = await signedIn(app, 'reader')
    const page = await user.get(`${app.url}/nowhere`)
    expect(page.text).toContain(page.headers.get('x-request-id'))
  })
})

test.each(['a%2Fb', 'a%5Cb', '..%2F..%2Faccounts', 'a%5C..%5Cb'])(
  'an id with a slash or backslash is never sent to the platform (%s)',
  async (id) => {
    const before = (await app.calls()).length
    expect((await visitor.get(at(`/probe/${id}`))).status).toBe(404)
    expect((await app.calls()).length).toBe(before)
  },
)

test('a page that updates itself does not consume the notice', async () => {
  const reader = await connected(app, { name: 'reader' })
  await reader.post(at('/probe'), { form: { name: 'Nora' } })
  const list = `${app.url}/connections`
  expect((await reader.get(list, { headers: { 'x-live-update': '1' } })).text).not.toContain('was created')
  expect((await reader.get(list)).text).toContain('was created')
})

test('a log line does not repeat the fields of earlier lines of the same request', () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  requestContext.run({ requestId: 'r1' }, () => {
    log.info({ accessToken: 'secret', grantId: 'g' }, 'one')
    log.child({}, { redact: [] }).info('two')
  })
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ requestId: 'r1' }, { requestId: 'r1' }])
  expect(lines[1]).not.toMatch(/secret|grantId/)
})
