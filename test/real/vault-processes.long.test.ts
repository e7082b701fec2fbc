import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { REDIS } from '../support/programs.ts'
import { REF } from '../support/vault.ts'
import { type StoreKind, startVaultProcesses, work } from './vault-processes.ts'
import type { Done } from './vault-worker.ts'

const CALL_MS = 12_000
let processes: Awaited<ReturnType<typeof startVaultProcesses>>
afterEach(() => processes?.close())

/** Four processes that use tokens of two seconds, and all tokens that were issued. */
async function started(kind: StoreKind) {
  processes = await startVaultProcesses(kind, 4, 2)
  const { setup } = processes
  const issued = new Set(['access-0'])
  setup.endpoint.answers((res) => {
    const token = `access-${issued.size}`
    issued.add(token)
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(JSON.stringify({ access_token: token, expires_in: 2 }))
  })
  return { ...processes, issued }
}

const refreshesOf = async () => (await processes.setup.vault.find(REF))?.tokens?.refreshes ?? 0

function expectNothingWrong(done: readonly Done[], issued: ReadonlySet<string>): void {
  for (const { tokens, errors } of done) {
    expect(errors).toEqual([])
    expect([...issued]).toEqual(expect.arrayContaining(tokens))
  }
}

describe.each<StoreKind>(REDIS ? ['SQLite', 'Redis'] : ['SQLite'])('four processes on %s', (kind) => {
  test('send as many requests as there are refreshes', async () => {
    const { setup, workers, issued } = await started(kind)
    const done = await Promise.all(workers.map((worker) => work(worker, { callMs: CALL_MS })))
    expectNothingWrong(done, issued)
    expect(setup.endpoint.requests.length).toBeGreaterThan(3)
    expect(setup.endpoint.requests.length).toBe(await refreshesOf())
  })

  test('of which one after the other is killed send one more request for each of them at most, and no other caller fails', async () => {
    const { setup, workers, start, issued } = await started(kind)
    const [survivor] = workers
    if (!survivor) throw new Error('there are four processes')
    const surviving = work(survivor, { callMs: CALL_MS })
    for (const worker of workers.slice(1)) worker.send({ callMs: CALL_MS })
    let kills = 0
    for (const end = performance.now() + CALL_MS - 1_000; performance.now() < end; kills++) {
      await pause(700)
      workers.at(-1)?.kill('SIGKILL')
      workers.splice(1, workers.length - 3)
      const next = await start()
      next.send({ callMs: CALL_MS })
      workers.push(next)
    }
    expectNothingWrong([await surviving], issued)
    expect(setup.endpoint.requests.length).toBeLessThanOrEqual((await refreshesOf()) + kills)
  })
})
