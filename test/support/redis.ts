import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { RedisClient } from 'redis'
import type { KeyValueStore } from '../../src/connect/stores.ts'
import { endsWithFile } from './children.ts'
import { freePort } from './ports.ts'
import { REDIS } from './programs.ts'

/** A client that inspects a server. The package's own `createClient` would create a class with 400 commands each time. */
export const createClient = RedisClient.factory({})

export interface RedisServer {
  url: string
  port: number
  /** Kills the server, and keeps its files. */
  kill(): Promise<void>
  /** Starts it again on the same port with the same files. */
  start(): Promise<void>
  /** Freezes the server (SIGSTOP), or continues it (SIGCONT). */
  signal(signal: NodeJS.Signals): void
  close(): Promise<void>
}

export const spawnServer = (program: string, args: string[]): ChildProcess =>
  endsWithFile(spawn(program, args, { stdio: 'ignore' }))

/**
 * A real redis-server for this test, in its own folder. Acknowledged writes are in its files even if it is killed.
 * It doesn't wait for the disk (`appendfsync no`), because a busy disk would take longer than the app waits for Redis.
 */
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
      'no',
      ...settings,
    ]
    child = spawnServer(REDIS ?? 'redis-server', options)
    // A server that still reads its file answers LOADING.
    while (!(await ask({ port }, 'ping'))?.startsWith('+PONG')) await pause(20)
  }
  const kill = () => killed(child)
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

/** Resolves when the program has ended, also if it was frozen. */
export function killed(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGCONT')
    child.kill('SIGKILL')
  })
}

/** Resolves when the store answers; it connects in the background. */
export async function ready<S extends KeyValueStore>(store: S): Promise<S> {
  for (let tried = 1; ; tried++) {
    try {
      await store.ping()
      return store
    } catch (error) {
      if (tried === 200) throw error
      await pause(50)
    }
  }
}

/**
 * A server's answer to a command, in the Redis protocol; null if there is no answer within a second. A program such as
 * redis-cli for each question, or a client of node-redis, would keep the machine busy.
 */
export function ask({ port }: { port: number }, ...command: string[]): Promise<string | null> {
  return new Promise((resolve) => {
    let answer = ''
    const isWhole = () => answer.endsWith('+PONG\r\n')
    // The answer to the ping marks the end of the previous answer.
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command.join(' ')}\r\nping\r\n`))
    socket.setTimeout(1000, () => socket.destroy())
    socket.on('data', (chunk) => {
      answer += chunk
      if (isWhole()) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(isWhole() ? answer : null))
  })
}
