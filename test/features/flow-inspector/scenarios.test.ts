import { afterAll, beforeAll, expect, test } from 'vitest'
import { SCENARIOS } from '../../../src/features/flow-inspector/scenarios/scenarios.ts'
import { type Running, startAll } from '../../support/app.ts'
import { signedIn } from '../../support/flow.ts'

let app: Running
beforeAll(async () => {
  app = await startAll()
})
afterAll(() => app.close())

test.each(SCENARIOS.map(({ name }) => name))('%s ends as expected', async (name) => {
  const ann = await signedIn(app)
  const answer = await ann.post(`${app.url}/scenarios/${name}/run`, { accept: 'application/json' })
  const { observations, asExpected, flows } = answer.json()
  expect(observations.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
  expect(asExpected).toBe(true)
  expect(flows.length).toBeGreaterThan(0)
})
