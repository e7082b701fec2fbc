import { expect, test } from 'vitest'
import { openSqlite } from '../../../src/connect/stores.ts'
import type { Step } from '../../../src/features/flow-inspector/flow.ts'
import { createFlowStore, MAX_FLOWS } from '../../../src/features/flow-inspector/flow-store.ts'

const DAY = 24 * 3_600_000
const START = Date.parse('2026-11-22T00:00:00Z')

function setup() {
  let time = START
  const now = () => time
  const store = openSqlite({ file: ':memory:', now })
  return {
    store,
    flows: createFlowStore(store, now),
    later: (ms: number) => {
      time += ms
    },
    step: (extra: Partial<Step> = {}): Step => ({
      at: new Date(time).toISOString(),
      ms: 1,
      from: 'app',
      to: 'api',
      topic: 'api_call',
      title: 'GET /leads: 200',
      ...extra,
    }),
  }
}

test('a user has the latest 200 flows, and the store keeps no others', async () => {
  const { store, flows, later, step } = setup()
  for (let number = 0; number < MAX_FLOWS + 5; number++) {
    later(1)
    await flows.append('ann', [{ id: `flow-${number}`, bxcontext: 'b', steps: [step()] }])
  }
  const ids = (await flows.list('ann')).map(({ id }) => id)
  expect(ids).toHaveLength(MAX_FLOWS)
  expect(ids[0]).toBe(`flow-${MAX_FLOWS + 4}`)
  expect(await flows.find('ann', 'flow-0')).toBeNull()
  // And their list.
  expect(await store.ofOwner('ann')).toHaveLength(MAX_FLOWS + 1)
  expect(await flows.list('eve')).toEqual([])
})

test('a flow is found by its id, by its own user', async () => {
  const { flows, step } = setup()
  await flows.append('ann', [{ id: 'one', bxcontext: 'b', steps: [step()] }])
  expect((await flows.find('ann', 'one'))?.id).toBe('one')
  expect(await flows.find('ann', 'of another')).toBeNull()
  expect(await flows.find('eve', 'one')).toBeNull()
})

test('a flow has at most 300 steps, and counts the others', async () => {
  const { flows, step } = setup()
  const steps = Array.from({ length: 250 }, () => step())
  await flows.append('ann', [{ id: 'long', bxcontext: 'b', steps }])
  await flows.append('ann', [{ id: 'long', bxcontext: 'b', steps }])
  const flow = await flows.find('ann', 'long')
  expect(flow?.steps).toHaveLength(300)
  expect(flow?.omitted).toBe(200)
  expect((await flows.list('ann'))[0]?.steps).toBe(500)
})

test('the request of a browser is before what followed from it in the same millisecond, and was known earlier', async () => {
  const { flows, step } = setup()
  const steps = [step(), step({ from: 'browser', to: 'app', topic: 'callback_received' })]
  await flows.append('ann', [{ id: 'one', bxcontext: 'b', steps }])
  const shown = await flows.find('ann', 'one')
  expect(shown?.steps.map(({ topic }) => topic)).toEqual(['callback_received', 'api_call'])
})

test('flows are kept for a day after their last step', async () => {
  const { flows, later, step } = setup()
  await flows.append('ann', [{ id: 'old', bxcontext: 'b', steps: [step()] }])
  later(DAY - 1)
  expect(await flows.list('ann')).toHaveLength(1)
  later(2)
  expect(await flows.list('ann')).toEqual([])
  expect(await flows.find('ann', 'old')).toBeNull()
})

test('steps that processes add at the same time are all kept, in the order of their times', async () => {
  const { store, flows, later, step } = setup()
  const other = createFlowStore(store)
  const additions = Array.from({ length: 20 }, (_, index) => {
    later(1)
    return { id: 'shared', bxcontext: null, steps: [step({ title: `step ${index}` })] }
  })
  await Promise.all(additions.map((addition, index) => (index % 2 ? flows : other).append('ann', [addition])))
  const titles = (await flows.find('ann', 'shared'))?.steps.map(({ title }) => title)
  expect(titles).toEqual(additions.map((_, index) => `step ${index}`))
})

test('a connect flow that nobody finishes is abandoned after 15 minutes', async () => {
  const { flows, later, step } = setup()
  const started = step({ from: 'browser', to: 'app', topic: 'connect_started' })
  await flows.append('ann', [{ id: 'left', bxcontext: null, steps: [started] }])
  expect((await flows.list('ann'))[0]).toMatchObject({ outcome: 'running', endedAt: null })
  later(15 * 60_000 + 1)
  expect((await flows.list('ann'))[0]).toMatchObject({ outcome: 'abandoned' })
})

test('a stored flow of an unknown format counts as absent', async () => {
  const { store, flows } = setup()
  await store.set({ kind: 'flow', owner: 'ann', id: 'x' }, '{"steps":7}', 1_000)
  await store.set({ kind: 'flow-index', owner: 'ann', id: '' }, 'not JSON', 1_000)
  expect(await flows.find('ann', 'x')).toBeNull()
  expect(await flows.list('ann')).toEqual([])
})

test('a flow is about the business that its user chose last', async () => {
  const { flows, step } = setup()
  const append = (bxcontext: string | null) =>
    flows.append('ann', [{ id: 'changed', bxcontext, steps: [step()] }])
  for (const bxcontext of [null, 'first', 'second', null]) await append(bxcontext)
  expect((await flows.find('ann', 'changed'))?.bxcontext).toBe('second')
  expect(await flows.list('ann')).toMatchObject([{ bxcontext: 'second' }])
})
