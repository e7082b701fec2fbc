import { afterAll, beforeAll, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { connected } from '../../support/flow.ts'
import { latestFlow } from './support.ts'

let app: Running
beforeAll(async () => {
  app = await startAll()
})
afterAll(() => app.close())

test('explore', async () => {
  const ann = await connected(app)
  const flow = await latestFlow(app, ann, 'connect')
  console.log(JSON.stringify(flow, (key, value) => (key === 'explanation' ? undefined : value), 1))
  const html = await ann.get(`${app.url}/flows/${flow.id}`)
  console.log(html.status, html.text.length)
  await app.sandbox('expire')
  await ann.get(`${app.url}/connections/harbour-homes/probe`)
  const call = await latestFlow(app, ann, 'api_call')
  console.log(
    JSON.stringify(
      call.steps.map(({ title, from, to, ms }) => [title, from, to, ms]),
      null,
      1,
    ),
  )
})
