import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { connected } from '../../support/flow.ts'
import { latestFlow } from './support.ts'

let app: Running
beforeAll(async () => {
  app = await startAll()
})
afterAll(() => app.close())

test('an exported flow needs nothing else: no script, no link, no address', async () => {
  const ann = await connected(app)
  const { id } = await latestFlow(app, ann, 'connect')
  const { text, headers } = await ann.get(`${app.url}/flows/${id}/export`)
  expect(headers.get('content-disposition')).toMatch(/^attachment; filename=flow-[\da-f]{8}\.html$/)
  expect(text).toContain('<style>')
  expect(text).toContain('Exchange the code for tokens: 200')
  expect(text).toContain('If nobody checked it, an attacker could')
  expect(text).not.toMatch(/<script|<link|<img|src=|href=|url\((?!#head)/)
})
