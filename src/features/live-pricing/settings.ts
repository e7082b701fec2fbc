import { isProduction, isSandboxSecret, isWeak, list, rateLimit, wholeNumber } from '../../settings/fields.ts'
import { type Environment, type SettingsOf, settingsGroup } from '../../settings/read.ts'
import type { Client } from './clients.ts'

export type LivePricingSettings = SettingsOf<typeof livePricingSettings>

/** For the app, where live pricing is optional. */
export const livePricingSettings = livePricingGroup({ clientsRequired: false })

/** For `npm run feature -- live-pricing serve`, which needs at least one client. */
export const requiredLivePricingSettings = livePricingGroup({ clientsRequired: true })

function livePricingGroup({ clientsRequired }: { clientsRequired: boolean }) {
  return settingsGroup({
    variables: (env) => ({
      LIVE_PRICING_CLIENTS: clients(env)
        .refine(
          (live) => !clientsRequired || live.length > 0 || env.LIVE_PRICING_STAGING_CLIENTS,
          'is required (id:secret for each client)',
        )
        .meta({
          description:
            'The clients that may call `/live-pricing`, as `id:secret`, separated by commas. To replace a secret, list the same id with both. Unset: not served.',
          example: 'sandbox-platform:sandbox-platform-secret',
        }),
      LIVE_PRICING_STAGING_CLIENTS: clients(env)
        .refine(
          (staging) => !shareSecret(staging, clients(env).safeParse(env.LIVE_PRICING_CLIENTS).data ?? []),
          'must not share a secret with LIVE_PRICING_CLIENTS',
        )
        .meta({
          description:
            'The same for `/live-pricing-staging`. The two must not share a secret. Unset: not served.',
        }),
      LIVE_PRICING_RATE_LIMIT: wholeNumber({ min: 0, max: 9_999_999, default: 3000 }).meta({
        description:
          'How many requests each process accepts from one client in a window. `0` means no limit.',
      }),
      LIVE_PRICING_RATE_WINDOW_SECONDS: wholeNumber({ min: 1, max: 86_400, default: 10 }).meta({
        description: 'The length of that window, in seconds.',
      }),
    }),
    build: (values) => ({
      /** The clients of each base; a base without clients is not served. */
      clients: { production: values.LIVE_PRICING_CLIENTS, staging: values.LIVE_PRICING_STAGING_CLIENTS },
      /** Rate limit per client and process; null: no limit. */
      rateLimit: rateLimit(values.LIVE_PRICING_RATE_LIMIT, values.LIVE_PRICING_RATE_WINDOW_SECONDS),
    }),
  })
}

/** Parses a list of `id:secret`. An id may occur several times, with different secrets, for rotation. */
function clients(env: Environment) {
  return list().transform((entries, ctx): Client[] => {
    const secrets = new Map<string, string[]>()
    for (const [index, entry] of entries.entries()) {
      const [, id = '', secret = ''] = /^([\x21-\x39\x3b-\x7e]{1,100}):([\x21-\x7e]+)$/.exec(entry) ?? []
      const problem = clientProblem(env, id, secret)
      if (problem) ctx.addIssue(`entry ${index + 1} ${problem}`)
      else secrets.set(id, [...(secrets.get(id) ?? []), secret])
    }
    return [...secrets].map(([id, ofClient]) => ({ id, secrets: ofClient }))
  })
}

function clientProblem(env: Environment, id: string, secret: string): string | undefined {
  if (!id) return 'must have the form id:secret'
  if (isProduction(env) && (isWeak(secret, 16, 8) || isSandboxSecret(secret)))
    return "has a weak secret (use 16 random characters or more, and not the sandbox's)"
  return undefined
}

function shareSecret(clients: readonly Client[], others: readonly Client[]): boolean {
  const secrets = new Set(others.flatMap((client) => client.secrets))
  return clients.some((client) => client.secrets.some((secret) => secrets.has(secret)))
}
