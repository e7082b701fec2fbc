import * as z from 'zod'
import { type Environment, field, type SettingsOf } from '../../web/kit.ts'
import type { Client } from './clients.ts'

export type LivePricingSettings = SettingsOf<typeof livePricingSettings>

/** For the app, where live pricing is optional. */
export const livePricingSettings = livePricingGroup({ clientsRequired: false })

/** For `npm run feature -- live-pricing serve`, which needs at least one client. */
export const requiredLivePricingSettings = livePricingGroup({ clientsRequired: true })

function livePricingGroup({ clientsRequired }: { clientsRequired: boolean }) {
  return (env: Environment) =>
    z.object({
      /** A base without clients is not served. */
      clients: z.object({
        production: clients(env)
          .refine(
            (live) => !clientsRequired || live.length > 0 || env.LIVE_PRICING_STAGING_CLIENTS,
            'is required (id:secret for each client)',
          )
          .meta({
            variable: 'LIVE_PRICING_CLIENTS',
            description:
              'The clients that may call `/live-pricing`, as `id:secret`, separated by commas. To replace a secret, list the same id with both. Unset: not served.',
            example: 'sandbox-platform:sandbox-platform-secret',
          }),
        staging: clients(env)
          .refine(
            (staging) => !shareSecret(staging, clients(env).safeParse(env.LIVE_PRICING_CLIENTS).data ?? []),
            'must not share a secret with LIVE_PRICING_CLIENTS',
          )
          .meta({
            variable: 'LIVE_PRICING_STAGING_CLIENTS',
            description:
              'The same for `/live-pricing-staging`. The two must not share a secret. Unset: not served.',
          }),
      }),
      /** Per client and process; null: no limit. */
      rateLimit: z
        .object({
          limit: field.wholeNumber({ min: 0, max: 9_999_999, default: 3000 }).meta({
            variable: 'LIVE_PRICING_RATE_LIMIT',
            description:
              'How many requests each process accepts from one client in a window. `0` means no limit.',
          }),
          windowMs: field
            .wholeNumber({ min: 1, max: 86_400, default: 10 })
            .transform((seconds) => seconds * 1000)
            .meta({
              variable: 'LIVE_PRICING_RATE_WINDOW_SECONDS',
              description: 'The length of that window, in seconds.',
            }),
        })
        .transform((rate) => (rate.limit === 0 ? null : rate)),
    })
}

/** Parses a list of `id:secret`. An id may occur several times, with different secrets, for rotation. */
function clients(env: Environment) {
  return field.list().transform((entries, ctx): Client[] => {
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
  if (field.isProduction(env) && (field.isWeak(secret, 16, 8) || field.isSandboxSecret(secret)))
    return "has a weak secret (use 16 random characters or more, and not the sandbox's)"
  return undefined
}

function shareSecret(clients: readonly Client[], others: readonly Client[]): boolean {
  const secrets = new Set(others.flatMap((client) => client.secrets))
  return clients.some((client) => client.secrets.some((secret) => secrets.has(secret)))
}
