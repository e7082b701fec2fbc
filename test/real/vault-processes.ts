import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRedis, openSqlite } from '../../src/connect/stores.ts'
import { forkWorker } from '../support/process.ts'
import { ready, startRedis } from '../support/redis.ts'
import { consent, newKey, vaultSetup } from '../support/vault.ts'
import type { Done, Work } from './vault-worker.ts'

export type StoreKind = 'SQLite' | 'Redis'

/** A connection whose access token expires after `expiresIn` s, in a store that `count` processes share. */
export async function startVaultProcesses(kind: StoreKind, count: number, expiresIn: number) {
  const folder = mkdtempSync(join(tmpdir(), 'vault-processes-'))
  const redis = kind === 'Redis' ? await startRedis() : null
  const address = redis?.url ?? join(folder, 'store.sqlite')
  const store = redis ? await ready(await openRedis({ urls: [address] })) : openSqlite({ file: address })
  const key = newKey()
  const setup = await vaultSetup({ store, keys: [key], now: Date.now })
  await consent(setup.vault, { expiresIn })
  const start = async (): Promise<ChildProcess> => {
    const worker = forkWorker('../real/vault-worker.ts', {
      STORE: address,
      AUTH_URL: setup.endpoint.authUrl,
      KEY: key.secret.toString('base64'),
    })
    await once(worker, 'message')
    return worker
  }
  const workers = await Promise.all(Array.from({ length: count }, start))
  return {
    setup,
    workers,
    start,
    close: async () => {
      for (const worker of workers) worker.kill('SIGKILL')
      await setup.close()
      await redis?.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Gives a process work, and resolves to what it replies. */
export async function work(worker: ChildProcess, task: Work): Promise<Done> {
  worker.send(task)
  const [done] = await once(worker, 'message')
  return done
}
