import { createApi, createHttp, platform, type TokenSource } from '../../src/connect/index.ts'
import { loadSandboxFeatures } from '../../src/sandbox/load.ts'
import { createSandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts'
import { serve } from './ports.ts'
import { probe } from './sandbox-probe.ts'
import { createVisitor, type Visitor } from './visitor.ts'

const FEATURES = await loadSandboxFeatures()

export type RunningSandbox = Awaited<ReturnType<typeof startSandbox>>

/** The sandbox alone, over HTTP, with the probe. Its rate limit is too high to matter unless `options` sets one. */
export async function startSandbox(options: Partial<SandboxOptions> = {}) {
  const { server, port, close } = await serve()
  const url = `http://127.0.0.1:${port}`
  const sandbox = createSandbox({
    baseUrl: url,
    apps: [],
    file: ':memory:',
    rateLimit: { limit: 100_000, windowMs: 1_000 },
    simulated: [...FEATURES, probe],
    ...options,
  })
  server.on('request', sandbox.app)
  return {
    url,
    server,
    /** A visitor who is logged in. */
    async logIn(email: string): Promise<Visitor> {
      const visitor = createVisitor()
      await visitor.post(`${url}/login`, { form: { email, password: 'sandbox' } })
      return visitor
    },
    /** Calls the API for a business, with POST if there is a body. */
    call: (bxcontext: string, path: string, body?: object) =>
      fetch(`${url}/api${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer probe-${bxcontext}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
    close: async () => {
      await close()
      sandbox.close()
    },
  }
}

/** The app's API client, acting for a business. */
export function openClient(url: string, bxcontext: string) {
  const http = createHttp()
  const token = async () => `probe-${bxcontext}`
  const source: TokenSource = {
    accessToken: token,
    refresh: token,
    grantedScopes: async () => null,
    noteCall: async () => {},
  }
  return { api: createApi({ platform, baseUrl: `${url}/api`, http }), source, close: () => http.close() }
}
