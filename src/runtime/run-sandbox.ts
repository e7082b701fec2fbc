import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { redirectUrls } from '../connect/authorization/routes.ts'
import { ACCOUNTS, SUPPLIERS } from '../sandbox/accounts.ts'
import { createSandbox } from '../sandbox/sandbox.ts'
import { protectDataDir } from './data-dir.ts'
import { listen } from './serve.ts'

export interface SandboxSettings {
  port: number
  /** The address to listen on; undefined: all. */
  host: string | undefined
  /** Whether other machines may use it. */
  allowRemote: boolean
  /** Where the sandbox is reached. */
  url: string
  /** The app that is registered with the sandbox: where it is, and its credentials. */
  appUrl: string
  clientId: string
  clientSecret: string
  webhookSecret: string
  /** The sample supplier's live pricing, as it is registered with the sandbox. */
  livePricing: { url: string; clientId: string; clientSecret: string }
  dataDir: string
}

/** The sandbox's settings from the environment; every one has a default. Throws an error that names a bad one. */
export function sandboxSettings(env: NodeJS.ProcessEnv): SandboxSettings {
  const port = env.SANDBOX_PORT || '4400'
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535 || Number(port) === 0) {
    throw new Error('SANDBOX_PORT must be a whole number from 1 to 65535')
  }
  const url = (env.SANDBOX_URL?.trim() || `http://localhost:${port}`).replace(/\/+$/, '')
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '') || new URL(url).pathname !== '/')
    throw new Error('SANDBOX_URL must be an http or https address without a path')
  const appUrl = (env.BASE_URL || `http://localhost:${env.PORT || '3000'}`).replace(/\/+$/, '')
  if (!URL.canParse(appUrl)) throw new Error(`${env.BASE_URL ? 'BASE_URL' : 'PORT'} does not make an address`)
  const [, client, secret] = /^([^:,]+):([^,]+)/.exec(env.LIVE_PRICING_CLIENTS?.trim() ?? '') ?? []
  return {
    port: Number(port),
    host: env.HOST?.trim() || undefined,
    allowRemote: env.DEMO_ALLOW_REMOTE?.trim() === 'true',
    url,
    appUrl,
    clientId: env.PLATFORM_CLIENT_ID || 'sandbox-client',
    clientSecret: env.PLATFORM_CLIENT_SECRET || 'sandbox-client-secret',
    webhookSecret: env.PLATFORM_WEBHOOK_SECRET?.split(',')[0]?.trim() || 'sandbox-webhook-secret',
    livePricing: {
      url: `${appUrl}/live-pricing`,
      clientId: client?.trim() ?? 'sandbox-platform',
      clientSecret: secret?.trim() ?? 'sandbox-platform-secret',
    },
    dataDir: env.DATA_DIR || '.data',
  }
}

const SAMPLE_SUPPLIER = SUPPLIERS[0] ?? ''
const SAMPLE_CATALOGUE = new URL('../sandbox/summit-trade-range.csv', import.meta.url)

/** The catalogue of the sample supplier: what its live pricing has prices for, and a few items that it sells no more. */
function sampleItems() {
  const rows: { code: string; name: string; unit: string; category: string; price: string }[] = parse(
    readFileSync(SAMPLE_CATALOGUE),
    { columns: true },
  )
  return rows.map((row) => ({ ...row, price: Number(row.price) }))
}

/** Starts the sandbox; `summary` says where it is and who can log in. */
export async function openSandbox(settings: SandboxSettings) {
  const { port, host, url, appUrl, clientId, clientSecret, webhookSecret, livePricing, dataDir } = settings
  protectDataDir(dataDir)
  const sandbox = createSandbox({
    baseUrl: url,
    openToAll: settings.allowRemote,
    apps: [
      {
        name: 'Connect Starter',
        logo: '/assets/app.svg',
        clientId,
        clientSecret,
        redirectUrls: [...redirectUrls(appUrl)],
      },
    ],
    file: join(dataDir, 'sandbox.sqlite'),
    livePricing: { [SAMPLE_SUPPLIER]: livePricing },
    samples: {
      [SAMPLE_SUPPLIER]: { id: 'summit-trade-range', name: 'Summit trade range', items: sampleItems() },
    },
    connected: [{ builder: 'ridgeline-build', supplier: SAMPLE_SUPPLIER, externalRef: 'CUST1002' }],
    webhooks: { [SAMPLE_SUPPLIER]: { url: `${appUrl}/webhooks/platform`, secret: webhookSecret } },
  })
  const server = await listen(sandbox.app, {
    port,
    host,
    variable: 'SANDBOX_PORT',
    localOnly: settings.allowRemote ? undefined : [new URL(url).hostname],
  })
  const accounts = ACCOUNTS.map(
    ({ email, password, businesses }) =>
      `    ${email.padEnd(24)} password ${password}   ${businesses.map(({ name }) => name).join(', ')}`,
  )
  return {
    summary: `  The sandbox platform   ${url}\n${accounts.join('\n')}`,
    async close() {
      await server.stop(0)
      sandbox.close()
    },
  }
}
