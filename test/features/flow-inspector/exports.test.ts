import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { connected, signedIn } from '../../support/flow.ts'
import type { Visitor } from '../../support/visitor.ts'
import { flowWith, latestFlow, type ShownFlow } from './support.ts'

let app: Running
let ann: Visitor
let flow: ShownFlow
beforeAll(async () => {
  app = await startAll()
  ann = await connected(app)
  flow = await latestFlow(app, ann, 'connect')
})
afterAll(() => app.close())

const exported = async (format: string) => ann.get(`${app.url}/flows/${flow.id}/export/${format}`)

/** Uploads a file as the form does. */
async function upload(visitor: Visitor, text: string, accept = 'application/json') {
  const form = new FormData()
  form.append('file', new File([text], 'flow.json', { type: 'application/json' }))
  const body = new Response(form)
  const headers = { 'content-type': body.headers.get('content-type') ?? '' }
  return visitor.post(`${app.url}/flows/import`, {
    text: await body.text(),
    headers,
    accept,
  })
}

test('the JSON of a flow, imported by somebody else, shows the same steps', async () => {
  const file = await exported('json')
  expect(file.headers.get('content-disposition')).toMatch(/^attachment; filename=flow-[\da-f]{8}\.json$/)
  const bea = await signedIn(app, 'bea')
  const answer = await upload(bea, file.text)
  expect(answer.status).toBe(201)
  const imported = await flowWith(app, bea, answer.json().id)
  expect(imported).toMatchObject({
    kind: 'connect',
    outcome: 'connected',
    bxcontext: 'harbour-homes',
    imported: true,
  })
  expect(imported.steps).toEqual(flow.steps)
  const page = await bea.get(`${app.url}/flows/${imported.id}`)
  expect(page.text).toContain('Imported from another machine.')
})

test('the HTML of a flow needs nothing else: no script, no link, no address', async () => {
  const { text, headers } = await exported('html')
  expect(headers.get('content-disposition')).toContain('.html')
  expect(text).toContain('<style>')
  expect(text).toContain('Exchange the code for tokens: 200')
  expect(text).toContain('If nobody checked it, an attacker could')
  expect(text).not.toMatch(/<script|<link|<img|src=|href=|url\((?!#head)/)
})

test('the Mermaid text has a line for each step, between the lanes', async () => {
  const { text } = await exported('mermaid')
  expect(text).toMatch(/^sequenceDiagram\n {2}participant browser as Browser\n/)
  expect(text).toContain('  app->>identity_provider: 12. Exchange the code for tokens 200\n')
  const arrows = text.split('\n').filter((line) => /->>|Note over/.test(line))
  expect(arrows).toHaveLength(flow.steps.length)
})

test('an unknown format is refused by name', async () => {
  const answer = await ann.get(`${app.url}/flows/${flow.id}/export/pdf`, { accept: 'application/json' })
  expect(answer.json()).toMatchObject({ code: 'invalid_input', field: 'format' })
})

test.each([
  ['nothing', '', 'choose a file'],
  ['no JSON', '<html>', 'is not JSON'],
  ['another JSON', '{"steps": []}', 'is not an exported flow of this version (format)'],
  [
    'a flow without steps',
    '{"format":"connect-flow","version":1,"flow":{"bxcontext":null,"steps":[]}}',
    'without steps',
  ],
])('importing %s is refused with what to do', async (_what, text, message) => {
  const answer = await upload(ann, text)
  expect(answer.status).toBe(400)
  expect(answer.json()).toMatchObject({ code: 'invalid_input', field: 'file' })
  expect(answer.json().detail).toContain(message)
})

test('a refused file is said at the top of the page, which then has no address to be refreshed from', async () => {
  const { status, text } = await upload(ann, '<html>', 'text/html')
  expect(status).toBe(400)
  expect(text).toMatch(/role="alert"><p>Choose a file[^<]*not JSON[\s\S]*<div id="live">/)
})

test('a hostile file shows as text, runs nothing, and cannot pretend to have a secret or a link', async () => {
  const hostile = JSON.parse((await exported('json')).text)
  const evil = '</text><script>alert(1)</script>'
  Object.assign(hostile.flow.steps[0], { title: evil })
  hostile.flow.bxcontext = evil
  hostile.flow.steps[0].request.parameters = [{ name: evil, value: evil }]
  const { id } = (await upload(ann, JSON.stringify(hostile))).json()
  for (const path of ['', '/steps/1', '/present/1', '/export/html'])
    expect((await ann.get(`${app.url}/flows/${id}${path}`)).text, path).not.toContain('<script>alert')
  expect((await ann.get(`${app.url}/flows`)).text).not.toContain('<script>alert')
  Object.assign(hostile.flow.steps[0].request, { parameters: [{ name: 'x', fingerprint: 'a raw token' }] })
  expect((await upload(ann, JSON.stringify(hostile))).status).toBe(400)
})

test('a file that is too large is refused', async () => {
  expect((await upload(ann, ' '.repeat(2_100_000))).status).toBe(413)
})

describe('an imported flow', () => {
  const edited = async (edit: (flow: { steps: Record<string, unknown>[] }) => void) => {
    const json = JSON.parse((await exported('json')).text)
    edit(json.flow)
    return upload(ann, JSON.stringify(json))
  }

  test('of days ago is listed, and stays when there are many flows', async () => {
    const answer = await edited(({ steps }) => {
      for (const step of steps) step.at = '2026-01-01T00:00:00.000Z'
    })
    const { id } = answer.json()
    const { flows } = (await ann.get(`${app.url}/flows`, { accept: 'application/json' })).json()
    expect(flows.find((listed: { id: string }) => listed.id === id)).toMatchObject({ imported: true })
  })

  test('that is not finished is not shown as running', async () => {
    const answer = await edited((unfinished) => {
      unfinished.steps = unfinished.steps
        .slice(0, 2)
        .map((step) => ({ ...step, at: '2099-01-01T00:00:00.000Z' }))
    })
    expect((await flowWith(app, ann, answer.json().id)).outcome).toBe('abandoned')
  })

  test.each<[string, (step: Record<string, unknown>) => void]>([
    ['an impossible duration', (step) => Object.assign(step, { ms: 1e308 })],
    [
      'a time of 100,000 digits',
      (step) => Object.assign(step, { at: `2026-01-01T00:00:00.${'0'.repeat(1e5)}Z` }),
    ],
    [
      'many headers',
      (step) => {
        const headers = Array.from({ length: 100 }, (_, index) => ({ name: `h${index}`, value: 'x' }))
        Object.assign(step, { request: { method: 'GET', url: 'x', headers, parameters: [] } })
      },
    ],
    [
      'a bearer token that is not masked',
      (step) => {
        const headers = [{ name: 'authorization', value: 'Bearer a-raw-token' }]
        Object.assign(step, { request: { method: 'GET', url: 'x', headers, parameters: [] } })
      },
    ],
  ])('with %s is refused', async (_what, edit) => {
    expect((await edited(({ steps }) => edit(steps[0] ?? {}))).status).toBe(400)
  })

  test('with a parameter without a value can be presented', async () => {
    const answer = await edited(({ steps }) => {
      Object.assign(steps[0] ?? {}, {
        request: { method: 'GET', url: 'x', headers: [], parameters: [{ name: 'x' }] },
      })
    })
    expect((await ann.get(`${app.url}/flows/${answer.json().id}/present/1`)).status).toBe(200)
  })
})
