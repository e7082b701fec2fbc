import * as z from 'zod'
import { type Environment, field, type SettingsOf } from '../../../web/feature-api.ts'
import type { Client } from './access.ts'

export type LivePricingSettings = SettingsOf<typeof livePricingSettings>

export const livePricingSettings = (env: Environment) =>
  z.object({
    /** Without clients, the API is not served. */
    clients: field
      .list()
      .transform((entries, ctx): Client[] =>
        entries.flatMap((entry, index) => {
          // For rotation, an id may occur several times with different secrets.
          const [, id, secret = ''] = /^([\x21-\x39\x3b-\x7e]{1,100}):([\x21-\x7e]+)$/.exec(entry) ?? []
          const isWeak = field.isWeak(secret, 16, 8) || field.isSandboxSecret(secret)
          if (id !== undefined && !(isWeak && field.isProduction(env))) return { id, secret }
          const weak = "has a weak secret (use 16 random characters or more, and not the sandbox's)"
          ctx.addIssue(`entry ${index + 1} ${id === undefined ? 'must have the form id:secret' : weak}`)
          return []
        }),
      )
      .meta({
        variable: 'LIVE_PRICING_CLIENTS',
        description:
          'The clients that may call `/live-pricing`, as `id:secret`, separated by commas. To replace a secret, list the same id twice, with the old and the new secret. Unset: not served.',
        example: 'sandbox-platform:sandbox-platform-secret',
      }),
    /** The limit for each client in each process; null for no limit. */
    rateLimit: field
      .wholeNumber({ min: 0, max: 9_999_999, default: 3000 })
      .transform((limit) => (limit === 0 ? null : { limit, windowMs: 10_000 }))
      .meta({
        variable: 'LIVE_PRICING_RATE_LIMIT',
        description:
          'How many requests each process accepts from one client in 10 seconds. `0` means no limit.',
      }),
  })
