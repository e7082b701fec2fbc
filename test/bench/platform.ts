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

/** Starts a server of this folder in a process of its own; resolves to its address and its end. */
export async function startServer(script: string, settings: Record<string, string> = {}) {
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const server = run(script, { PORT: port, ...settings })
  await answering(`${url}/times`, server)
  return { url, stop: () => server.kill() }
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
