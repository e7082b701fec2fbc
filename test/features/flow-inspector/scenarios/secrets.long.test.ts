import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { SCENARIOS } from '../../../../src/features/flow-inspector/scenarios/scenarios.ts'
import { type Running, startAll } from '../../../support/app.ts'
import { CLIENT } from '../../../support/env.ts'
import { signedIn } from '../../../support/flow.ts'
import { flowsOf } from '../support.ts'

let app: Running
beforeAll(async () => {
  app = await startAll({ LOG_LEVEL: 'trace' })
})
afterAll(() => app.close())

const SECRET_NAMES = ['code', 'state', 'code_verifier', 'refresh_token', 'access_token', 'client_secret']

/** Collects the secrets of this process at its two ends: what the browsers see, and the token requests. */
function watchWire(): Set<string> {
  const secrets = new Set([CLIENT.clientSecret])
  const collect = (entries: Iterable<[string, unknown]>) => {
    for (const [name, value] of entries)
      if (SECRET_NAMES.includes(name) && typeof value === 'string' && value.length > 20) secrets.add(value)
  }
  const { fetch } = globalThis
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
    const response = await fetch(...args)
    const location = response.headers.get('location')
    if (location) collect(new URL(location, response.url).searchParams)
    for (const cookie of response.headers.getSetCookie()) {
      const [, id = ''] = /^[\w-]+=s%3A([^.]+)\./.exec(cookie) ?? []
      if (id) secrets.add(id)
    }
    return response
  })
  const { tokens } = app.services.http
  const { send } = tokens
  vi.spyOn(tokens, 'send').mockImplementation(async (request) => {
    collect(new URLSearchParams(String(request.body)))
    const response = await send(request)
    try {
      collect(Object.entries(JSON.parse(response.text)))
    } catch {
      // A fault answered something else.
    }
    return response
  })
  return secrets
}

/** Everything that the store holds, as it is on the disk. */
function storedText(): string {
  const db = new DatabaseSync(join(app.config.dataDir, 'store.sqlite'), { readOnly: true })
  const rows = db.prepare('SELECT kind, owner, id, value FROM entries').all()
  db.close()
  return rows.map((row) => Object.values(row).join(' ')).join('\n')
}

test('after every scenario, no secret is in a page, JSON, an export, the raw store or the log', async () => {
  const ann = await signedIn(app)
  const secrets = watchWire()
  const texts = new Map<string, string>()
  for (const { name } of SCENARIOS) {
    const answer = await ann.post(`${app.url}/scenarios/${name}/run`, { accept: 'application/json' })
    texts.set(`result of ${name}`, answer.text)
    expect(answer.json().asExpected, name).toBe(true)
    texts.set(`store after ${name}`, storedText())
  }
  const paths = ['/flows', '/scenarios', '/connections', '/connections/demo-builders/tokens']
  for (const { id } of await flowsOf(app, ann)) {
    const flow = `/flows/${id}`
    paths.push(flow, `${flow}/steps/1`, `${flow}/present/1`)
    paths.push(...['json', 'html', 'mermaid'].map((format) => `${flow}/export/${format}`))
  }
  for (const path of paths)
    for (const accept of ['text/html', 'application/json'])
      texts.set(`${path} as ${accept}`, (await ann.get(app.url + path, { accept })).text)
  texts.set('log', app.logLines.join('\n'))
  vi.restoreAllMocks()

  expect(secrets.size).toBeGreaterThan(60)
  expect(texts.size).toBeGreaterThan(150)
  const leaks = [...texts].flatMap(([where, text]) =>
    [...secrets].filter((secret) => text.includes(secret)).map(() => where),
  )
  expect(leaks).toEqual([])
})
