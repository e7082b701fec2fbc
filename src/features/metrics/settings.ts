import { createHash } from 'node:crypto'
import * as z from 'zod'
import { type Environment, field, type SettingsOf } from '../../web/feature-api.ts'

export type MetricsSettings = SettingsOf<typeof metricsSettings>

export const metricsSettings = (env: Environment) =>
  z
    .object({
      /** If undefined, `/metrics` is served on the app's own port. */
      port: field
        .optionalPort()
        .refine((port) => port !== Number(env.PORT ?? 3000), 'is PORT: use a port of its own')
        .meta({
          variable: 'METRICS_PORT',
          description:
            'A separate port for `/metrics`, on all addresses. Keep it off the internet. Unset, and without a token: no metrics.',
          example: '9464',
        }),
      /** The digest of the token that scrapers send; undefined if the separate port requires no token. */
      tokenDigest: z
        .string()
        .optional()
        .refine(
          (token) => token === undefined || !field.isProduction(env) || !field.isWeak(token, 24, 10),
          'is too weak (use 24 random characters or more)',
        )
        .transform((token) => (token === undefined ? undefined : digest(token)))
        .meta({
          variable: 'METRICS_TOKEN',
          description:
            "What a scraper sends as `Authorization: Bearer`: 24 random characters or more. Without `METRICS_PORT`, `/metrics` is on the app's address; with it, only on that port, and behind the token.",
        }),
    })
    // Metrics are off unless a port or a token is set.
    .transform((all) => (all.port === undefined && all.tokenDigest === undefined ? null : all))

/** The digest of a token. All digests have the same length, so comparing them does not reveal the token's length. */
export const digest = (token: string): Buffer => createHash('sha256').update(token).digest()
