import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'
import type { KeyValueStore } from '../../src/connect/store/store.ts'
import { freePort } from './ports.ts'
import { REDIS } from './programs.ts'

export interface RedisServer {
  url: string
  port: number
  /** Stops it hard, keeping its files. */
  kill(): Promise<void>
  /** Starts it again on the same port with the same files. */
  start(): Promise<void>
  /** SIGSTOP or SIGCONT: a server that hangs. */
  signal(signal: NodeJS.Signals): void
  close(): Promise<void>
}

/** A real redis-server of the test's own, in a folder of its own. */
export async function startRedis(...settings: string[]): Promise<RedisServer> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'connect-redis-'))
  const url = `redis://127.0.0.1:${port}`
  let child: ChildProcess
  const start = async () => {
    const options = [
      '--port',
      String(port),
      '--dir',
      dir,
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
      ...settings,
    ]
    child = spawn(REDIS ?? 'redis-server', options, { stdio: 'ignore' })
    await answering(url)
  }
  const kill = () =>
    new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve()
      child.once('exit', () => resolve())
      child.kill('SIGCONT')
      child.kill('SIGKILL')
    })
  await start()
  return {
    url,
    port,
    kill,
    start,
    signal: (signal) => void child.kill(signal),
    close: async () => {
      await kill()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Three masters of a Redis Cluster. */
export async function startCluster() {
  const nodes: RedisServer[] = []
  for (let node = 0; node < 3; node++)
    nodes.push(await startRedis('--cluster-enabled', 'yes', '--cluster-node-timeout', '3000'))
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '0', '--cluster-yes']
  execFileSync('redis-cli', create, { stdio: 'ignore' })
  return {
    urls: nodes.map(({ url }) => url),
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()))
    },
  }
}

/** Resolves when the store answers; it connects in the background. */
export async function ready<S extends KeyValueStore>(store: S): Promise<S> {
  for (let tried = 1; ; tried++) {
    try {
      await store.ping()
      return store
    } catch (error) {
      if (tried === 200) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

async function answering(url: string): Promise<void> {
  const client = createClient({ url, socket: { reconnectStrategy: () => 20 } }).on('error', () => {})
  await client.connect()
  // A server that still reads its file answers LOADING.
  while (!(await client.ping().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 20))
  client.destroy()
}
