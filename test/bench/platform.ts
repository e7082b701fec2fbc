import { Agent, request } from 'undici'
import type { TokenSource } from '../../src/connect/index.ts'
import { freePort } from '../support/ports.ts'
import { answering, run } from '../support/process.ts'

/** A token source that costs nothing. */
export const BARE_SOURCE: TokenSource = {
  accessToken: async () => 'token',
  refresh: async () => 'token',
  grantedScopes: async () => null,
  noteCall: async () => {},
}

/** Starts a server, such as a yardstick, in a process of its own; resolves when it answers. */
export async function startServer(script: string, settings: Record<string, string> = {}) {
  const port = String(await freePort())
  // `localhost`, as some of them listen on IPv6. Its log is written, but this process doesn't read it, because that would distort
  // the measurement.
  const url = `http://localhost:${port}`
  const server = run(script, { PORT: port, ...settings }, { stdout: '/dev/null' })
  await answering(`${url}/health/live`, server)
  return { url, pid: server.child.pid, stop: () => server.kill() }
}

/** The yardstick of a list call: a bare request and JSON.parse. */
export function bareList(url: string) {
  const dispatcher = new Agent({ connections: 64 })
  const headers = { authorization: 'Bearer token', accept: 'application/json' }
  return {
    async list(): Promise<unknown> {
      const answer = await request(`${url}?$top=25&$skip=0&$count=true`, { dispatcher, headers })
      return JSON.parse(await answer.body.text())
    },
    close: () => dispatcher.close(),
  }
}
