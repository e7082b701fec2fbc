import type { Server } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import * as z from 'zod'
import type { Config } from '../../../src/config.ts'
import { type Contract, loadContracts } from '../../../src/features/contracts.ts'
import { Consents } from '../../../src/features/first-contact/consent/consents.ts'
import { createConsentServer } from '../../../src/features/first-contact/consent/server.ts'
import { loadFeatures, loadTools } from '../../../src/features/load.ts'
import { loadSandboxFeatures } from '../../../src/sandbox/load.ts'
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts'
import { variablesOf } from '../../../src/settings/read.ts'
import type { Finding } from '../../../src/web/kit.ts'
import { startSandbox } from '../../sandbox/support.ts'
import { CLIENT } from '../../support/env.ts'
import { SCOPES } from '../../support/flow.ts'
import { serve } from '../../support/ports.ts'
import { probe, probeContract, probeTool, sandboxProbe } from '../../support/probe.ts'
import { type Answer, createVisitor, type Visitor } from '../../support/visitor.ts'
import { configOf } from './support.ts'

const sandboxFeatures = await loadSandboxFeatures()

const appFeatures = await loadFeatures()
/** The settings of the features, with the values of the sandbox. */
const OF_SANDBOX = Object.fromEntries(
  appFeatures
    .flatMap(({ settings }) => (settings ? variablesOf(settings({})) : []))
    .flatMap(([name, schema]) => {
      const { sandbox } = z.globalRegistry.get(schema) ?? {}
      return sandbox === undefined ? [] : [[name, sandbox]]
    }),
)

export interface Consenting {
  /** The address of the doctor's page. */
  url: string
  consents: Consents
  visitor: Visitor
  /** The platform's address. */
  platform: string
  /** Gives consent as the sandbox's supplier, with all permissions. */
  consent(): Promise<void>
  /** Denies the consent; resolves to the page that follows. */
  deny(): Promise<Answer>
  /** The JSON that the platform has answered so far. */
  bodies(): unknown[]
  /** The paths of the calls of its API that create or change something. */
  writes(): string[]
  /** Secrets of the app. */
  secrets: string[]
  /** Presses the button that checks. */
  check(): Promise<Finding[]>
  close(): Promise<void>
}

/** The sandbox, which knows the app at this address and the feature that only tests have. */
export async function startSandboxFor(appUrl: string, options: Partial<SandboxOptions> = {}) {
  const redirectUrls = [`${appUrl}/connect/context`, `${appUrl}/connect/callback`]
  const apps = [{ name: 'Probe', ...CLIENT, redirectUrls }]
  const simulated = [...sandboxFeatures, sandboxProbe]
  const { url, server, close } = await startSandbox({ apps, simulated, ...options })
  return {
    url,
    server,
    close,
    /** The settings of the app. */
    env: {
      PLATFORM_APP_URL: url,
      PLATFORM_AUTH_URL: `${url}/auth`,
      PLATFORM_API_URL: `${url}/api`,
      PLATFORM_CLIENT_ID: CLIENT.clientId,
      PLATFORM_CLIENT_SECRET: CLIENT.clientSecret,
    },
  }
}

/** The doctor asks for consents of the real sandbox, over HTTP. */
export async function startConsenting(
  options: Partial<SandboxOptions> = {},
  { write = true, env = {} as Record<string, string> } = {},
): Promise<Consenting> {
  const server = await serve()
  const url = `http://localhost:${server.port}`
  const sandbox = await startSandboxFor(url, options)
  const { url: platform } = sandbox
  const traffic = record(sandbox.server)
  // So that there are lists whichever features are removed.
  const features = [...appFeatures, probe]
  const settings = { BASE_URL: url, ...sandbox.env, ...OF_SANDBOX, ...env }
  const { consents, visitor } = await startDoctor(
    server.server,
    configOf(settings, features),
    await loadContracts(),
    write,
  )
  const answer = async (form: Record<string, string | string[]>) => {
    await visitor.post(`${platform}/login`, { form: { email: 'priya@summit.example', password: 'sandbox' } })
    const page = await visitor.follow(await visitor.post(`${url}/start`))
    return visitor.follow(await visitor.post(page.url, { form }))
  }

  return {
    bodies: () => traffic.bodies,
    writes: () => traffic.writes,
    secrets: [CLIENT.clientSecret, ...Object.values(OF_SANDBOX)],
    deny: () => answer({ answer: 'deny' }),
    url,
    consents,
    visitor,
    platform,
    async consent() {
      await answer({ answer: 'accept', scope: SCOPES })
    },
    async check() {
      await visitor.post(`${url}/check`)
      return consents.round.comparisons.findings()
    },
    async close() {
      await Promise.all([server.close(), sandbox.close()])
      await consents.close()
    },
  }
}

/** What a scripted platform answers: a status, a body that is sent as JSON, and headers. */
export type Answered = [status: number, body: unknown, headers?: Record<string, string>]

export interface Script {
  bxcontext: string
  code: string
  /** Answers a token request. */
  token(form: URLSearchParams): Answered
  /** Answers a call of the API. */
  api(address: URL, authorization: string): Answered
}

/** A platform that consents at once. Resolves to its address; it ends with the test. */
async function startScripted({ bxcontext, code, token, api }: Script): Promise<string> {
  const { server, port, close } = await serve()
  onTestFinished(close)
  const url = `http://127.0.0.1:${port}`
  server.on('request', async (req, res) => {
    const address = new URL(req.url ?? '/', url)
    const { pathname, searchParams } = address
    const send = ([status, body, headers]: Answered) =>
      res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    const goTo = (place: string | null, query: Record<string, string>) =>
      res.writeHead(302, { location: `${place}?${new URLSearchParams(query)}` }).end()
    const body = Buffer.concat(await req.toArray()).toString()
    const state = searchParams.get('state') ?? ''
    if (pathname === '/oauth2.html') return goTo(searchParams.get('redirectUrl'), { bxcontext })
    if (pathname === '/authorize')
      return goTo(searchParams.get('redirect_uri'), { code: `${code}${state}`, state })
    if (pathname === '/oauth/token') return send(token(new URLSearchParams(body)))
    return send(api(address, req.headers.authorization ?? ''))
  })
  return url
}

/** The doctor asks for consents of a scripted platform, and knows no contract but these, until the end of the test. */
export async function startConsentingOn(script: Script, contracts: readonly Contract[]) {
  const platform = await startScripted(script)
  const server = await serve()
  const url = `http://localhost:${server.port}`
  const config = configOf({
    BASE_URL: url,
    PLATFORM_APP_URL: platform,
    PLATFORM_AUTH_URL: platform,
    PLATFORM_API_URL: `${platform}/api`,
  })
  const { consents, visitor } = await startDoctor(server.server, config, contracts)
  onTestFinished(async () => {
    await consents.close()
    await server.close()
  })
  return {
    url,
    port: server.port,
    consents,
    visitor,
    consent: async () => visitor.follow(await visitor.post(`${url}/start`)),
    /** Presses the button that checks. */
    async check() {
      expect((await visitor.post(`${url}/check`)).status).toBe(303)
      return consents.round.comparisons.findings()
    },
  }
}

/** The doctor's pages on a server, and a browser. It knows these contracts, and what the features of them probe. */
async function startDoctor(server: Server, config: Config, contracts: readonly Contract[], write = true) {
  const known = [...(await loadTools('probe'))]
  const probes = known.filter(([name]) => contracts.some((contract) => contract.name === name))
  const consents = new Consents({
    config,
    probes: new Map([...probes, ['probe', probeTool]]),
    contracts: [...contracts, probeContract],
    write,
  })
  server.on('request', createConsentServer({ config, consents, onChecked: async () => {} }))
  return { consents, visitor: createVisitor() }
}

/** Keeps what a server answers as JSON, and which calls of the API wrote. Logins with an API key write nothing. */
function record(server: Server) {
  const bodies: unknown[] = []
  const writes: string[] = []
  // Before the sandbox, which may answer at once.
  server.prependListener('request', (req, res) => {
    const path = req.url ?? ''
    if (req.method === 'POST' && path.startsWith('/api/') && !path.startsWith('/api/accounts/'))
      writes.push(path)
    const end = res.end.bind(res) as (...args: unknown[]) => typeof res
    res.end = (...args: unknown[]) => {
      if (/json/.test(String(res.getHeader('content-type')))) bodies.push(JSON.parse(String(args[0])))
      return end(...args)
    }
  })
  return { bodies, writes }
}
