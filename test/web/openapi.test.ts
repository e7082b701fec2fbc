import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { partsOf } from '../../src/app.ts'
import { connectionViewSchema } from '../../src/web/connection-view.ts'
import { routesOf } from '../../src/web/openapi.ts'
import { type Running, startAll } from '../support/app.ts'
import { connected, connectionsOf } from '../support/flow.ts'

let app: Running
beforeAll(async () => {
  app = await startAll()
})
afterAll(() => app.close())

async function getDocument() {
  const response = await fetch(`${app.url}/openapi.json`)
  return (await response.json()) as {
    openapi: string
    security: unknown
    components: { securitySchemes: { session: unknown } }
    paths: Record<string, Record<string, { operationId?: string; security?: unknown[] }>>
  }
}

test('GET /openapi.json returns a valid OpenAPI 3.1 document', async () => {
  const document = await getDocument()
  expect(document.openapi).toMatch(/^3\.1/)
  expect(await new Validator().validate(document)).toEqual({ valid: true })
})

test('the document describes every route of the app, and no other', async () => {
  const { paths } = await getDocument()
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path}`),
  )
  const hasOwnDocument = (routes: { path: string }[]) =>
    routes.some(({ path }) => path.endsWith('/openapi.json') && path !== '/openapi.json')
  const parts = Object.values(partsOf(app.services)).flat()
  const routes = parts
    .filter(({ path }) => !path.endsWith('/probe'))
    .map(routesOf)
    .filter((ofPart) => !hasOwnDocument(ofPart))
    .flat()
  const methods = routes.flatMap(({ path, route }) =>
    route.stack.map(({ method }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`),
  )
  expect(described.sort()).toEqual([...new Set(methods)].filter((route) => !route.startsWith('head ')).sort())
})

test('exactly the operations that the document declares public answer a visitor who is not signed in', async () => {
  const document = await getDocument()
  expect(document.security).toEqual([{ session: [] }])
  const { cookies } = await connected(app, { name: 'bea' })
  const [cookie] = cookies.get(new URL(app.url).host)?.keys() ?? []
  expect(document.components.securitySchemes.session).toEqual({ type: 'apiKey', in: 'cookie', name: cookie })
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, { security }] of Object.entries(operations)) {
      const url = app.url + path.replaceAll(/\{\w+\}/g, 'x')
      const answer = await fetch(url, { method, headers: { accept: 'application/json' }, redirect: 'manual' })
      const { code } = JSON.parse((await answer.text()) || '{}')
      expect(code === 'unauthenticated', `${method} ${path}`).toBe(security === undefined)
    }
})

test('each operation has an id of its own', async () => {
  const { paths } = await getDocument()
  const ids = Object.values(paths).flatMap((operations) =>
    Object.values(operations).map(({ operationId }) => operationId),
  )
  expect(ids).toContain('getConnectionsByBxcontextDisconnect')
  expect(new Set(ids).size).toBe(ids.length)
})

test('connections have exactly the fields that the document describes', async () => {
  const visitor = await connected(app)
  const connections = await connectionsOf(app, visitor)
  expect(connections).toHaveLength(1)
  for (const connection of connections)
    expect(connectionViewSchema.strict().parse(connection)).toEqual(connection)
})
