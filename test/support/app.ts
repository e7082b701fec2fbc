import { rmSync } from 'node:fs'
import { afterEach, vi } from 'vitest'
import { createApp } from '../../src/app.ts'
import { ready } from '../../src/connect/stores.ts'
import { createDependencies, type Dependencies } from '../../src/dependencies.ts'
import { featureOptions, loadFeatures } from '../../src/features/load.ts'
import { createLog } from '../../src/runtime/log.ts'
import { loadSandboxFeatures } from '../../src/sandbox/load.ts'
import { createSandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts'
import { type Config, readConfig } from '../../src/settings/config.ts'
import type { OwnSignIn } from '../../src/web/sign-in/user.ts'
import { CLIENT, tempDir, testEnv } from './env.ts'
import { serve } from './ports.ts'
import { probe, sandboxProbe } from './probe.ts'

const sandboxFeatures = await loadSandboxFeatures()
/** The settings of features that the sandbox needs, too. Without them, it would not know the app. */
const SHARED: Record<string, string> = Object.assign(
  {},
  ...sandboxFeatures.map(({ appOptions, demoEnv }) => (appOptions ? demoEnv : {})),
)

const features = await loadFeatures()

export interface Running {
  /** The app's address, on `localhost`. */
  url: string
  /** The sandbox's address, on another host name, so that browsers see another site. */
  platform: string
  services: Dependencies
  config: Config
  /** Every log line so far. */
  logLines: string[]
  /** Sets a fault of the sandbox; `none` clears it. */
  fault(endpoint: string, fault: string, times?: number, retryAfter?: number): Promise<void>
  /** `POST /sandbox/<action>`: expires every access token, or revokes every consent. */
  sandbox(action: 'expire' | 'revoke'): Promise<void>
  /**
   * Scripts the platform: the next request to `path`, such as `/api/leads`, gets this answer instead of the sandbox's.
   * Several answers to one path are given in order.
   */
  answer(path: string, answer: ScriptedAnswer): void
  /** The sandbox's latest calls, newest first. */
  calls(): Promise<{ endpoint: string; status: number | string }[]>
  /** Ends all faults and scripted answers. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** An answer of the platform: its JSON, or any text. */
export interface ScriptedAnswer {
  status?: number
  json?: unknown
  text?: string
  headers?: Record<string, string>
}

/**
 * The app and the real sandbox, over HTTP on free ports; embedded SQLite unless `env` names a Redis. The sandbox's limits are too
 * high to matter, unless `sandboxOptions` changes them.
 */
export async function startAll(
  env: Record<string, string> | ((sandbox: { authUrl: string }) => Record<string, string>) = {},
  sandboxOptions: Partial<SandboxOptions> = {},
  /** The app's port; a free one by default. */
  port?: number,
  ownSignIn: OwnSignIn | null = null,
): Promise<Running> {
  const { dir, remove } = tempDir()
  const [appServer, sandboxServer] = [await serve(undefined, port), await serve()]
  const url = `http://localhost:${appServer.port}`
  const sandboxUrl = `http://127.0.0.1:${sandboxServer.port}`
  const redirectUrls = [`${url}/connect/context`, `${url}/connect/callback`]
  const sandbox = createSandbox({
    baseUrl: sandboxUrl,
    apps: [{ name: 'Test App', ...CLIENT, redirectUrls }],
    file: ':memory:',
    rateLimit: { limit: 100_000, windowMs: 1_000 },
    simulated: [...sandboxFeatures, sandboxProbe],
    ...sandboxOptions,
    features: {
      ...Object.fromEntries(sandboxFeatures.map((one) => [one.name, one.appOptions?.(SHARED, url) ?? {}])),
      ...sandboxOptions.features,
    },
  })
  const script: { path: string; answer: ScriptedAnswer }[] = []
  let hasFaults = false
  sandboxServer.server.on('request', (req, res) => {
    const index = script.findIndex(({ path }) => path === req.url?.split('?')[0])
    if (index < 0) return sandbox.app(req, res)
    const [scripted] = script.splice(index, 1)
    const { status = 200, json, text = JSON.stringify(json), headers } = scripted?.answer ?? {}
    // The request's body is read, so that its connection can be used again.
    req.resume()
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  })
  const { appUrl, authUrl, apiUrl } = sandbox.addresses
  const addresses = { PLATFORM_APP_URL: appUrl, PLATFORM_AUTH_URL: authUrl, PLATFORM_API_URL: apiUrl }
  const config = readConfig(
    testEnv({
      ...SHARED,
      ...addresses,
      BASE_URL: url,
      PORT: String(appServer.port),
      DATA_DIR: dir,
      SANDBOX_URL: sandboxUrl,
      ...(typeof env === 'function' ? env({ authUrl }) : env),
    }),
    { hasOwnSignIn: ownSignIn !== null, ...featureOptions([...features, probe]) },
  )
  const logLines: string[] = []
  const log = createLog(config.logLevel, { write: (line) => void logLines.push(line) })
  const services = await createDependencies(config, log, [...features, probe], undefined, ownSignIn)
  // As `main.ts` does.
  await ready(services.store).catch(() => {})
  appServer.server.on('request', createApp(services))
  const post = async (path: string, body: unknown = {}) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(sandboxUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`sandbox ${path}: ${answer.status} ${await answer.text()}`)
  }
  return {
    url,
    platform: sandboxUrl,
    services,
    config,
    logLines,
    fault: (endpoint, fault, times, retryAfter) => {
      hasFaults = true
      return post('/sandbox/faults', { endpoint, fault, times, retryAfter })
    },
    sandbox: (action) => post(`/sandbox/${action}`),
    answer: (path, answer) => void script.push({ path, answer }),
    calls: async () => {
      const answer = await fetch(`${sandboxUrl}/sandbox/faults`, { headers: { accept: 'application/json' } })
      return ((await answer.json()) as { calls: [] }).calls
    },
    clear: async () => {
      script.length = 0
      if (hasFaults) await post('/sandbox/faults/clear')
      hasFaults = false
    },
    close: async () => {
      await Promise.all([appServer.close(), sandboxServer.close()])
      await services.close()
      sandbox.close()
      remove()
    },
  }
}

let shared: Promise<Running> | undefined

/**
 * The app that the test files of a worker share, with the default settings; it ends with the worker. A worker runs its files one
 * after the other, and each file has its own users (`newUser`). The faults, scripted answers and mocks of a test end with it. A
 * file that needs other settings, or only its own log lines and calls, starts its own app.
 */
export async function sharedApp(): Promise<Running> {
  shared ??= startAll().then((app) => {
    process.once('exit', () => rmSync(app.config.dataDir, { recursive: true, force: true }))
    return app
  })
  const app = await shared
  afterEach(() => {
    vi.restoreAllMocks()
    return app.clear()
  })
  return app
}
