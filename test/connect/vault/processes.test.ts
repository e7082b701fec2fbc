import { afterEach, describe, expect, test } from 'vitest'
import { REDIS, withRedis } from '../../support/programs.ts'
import { tokens } from '../../support/token-endpoint.ts'
import { REF } from '../../support/vault.ts'
import { startVaultProcesses, work } from '../../support/vault-processes.ts'

let processes: Awaited<ReturnType<typeof startVaultProcesses>>
afterEach(() => processes?.close())

describe.skipIf(!REDIS)(`four processes on one expired token on Redis${withRedis}`, () => {
  test('with 100 callers each cause one refresh, and every caller gets the new token', async () => {
    processes = await startVaultProcesses('Redis', 4, 0)
    const { setup, workers } = processes
    setup.endpoint.answers(tokens({ access_token: 'next' }))
    const done = await Promise.all(workers.map((worker) => work(worker, { callers: 100 })))
    expect(done).toEqual(Array(4).fill({ tokens: ['next'], errors: [] }))
    expect(setup.endpoint.requests).toHaveLength(1)
  })

  test('of which the one that refreshes is killed lose no connection: the next one refreshes when the lease is over', async () => {
    processes = await startVaultProcesses('Redis', 2, 0)
    const { setup, workers } = processes
    const [holder, other] = workers
    if (!holder || !other) throw new Error('there are two processes')
    const asked = Promise.withResolvers<void>()
    setup.endpoint.answers(() => asked.resolve(), tokens({ access_token: 'next' }))
    holder.send({ callers: 1 })
    await asked.promise
    holder.kill('SIGKILL')
    expect(await work(other, { callers: 100, aheadMs: 11_000 })).toEqual({ tokens: ['next'], errors: [] })
    expect(setup.endpoint.requests).toHaveLength(2)
    expect(await setup.vault.find(REF)).toMatchObject({ view: { state: 'active' } })
  })
})
