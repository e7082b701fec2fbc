import * as z from 'zod'
import { type Environment, field, type SettingsOf } from '../../../web/feature-api.ts'
import { WEBHOOK_HEADER } from './contract.ts'

export type BuilderRequestsSettings = SettingsOf<typeof builderRequestsSettings>

export const builderRequestsSettings = (env: Environment) =>
  z.object({
    /** A signature may match any of these secrets. If the list is empty, the webhook is disabled. */
    webhookSecrets: field
      .list()
      .refine(
        (secrets) =>
          !field.isProduction(env) ||
          !secrets.some((secret) => field.isWeak(secret, 16) || field.isSandboxSecret(secret)),
        "is too weak (use 16 characters or more, and not the sandbox's secret)",
      )
      .meta({
        variable: 'PLATFORM_WEBHOOK_SECRET',
        description:
          "The secret from the platform's Webhooks page, where `BASE_URL/webhooks/platform` is registered. Separate several with commas: a delivery signed with any of them is accepted. Unset: no webhook, and pages poll.",
        sandbox: 'sandbox-webhook-secret',
      }),
    webhookHeader: field
      .pattern(/^[\w-]{1,100}$/, 'must be a header name')
      .default(WEBHOOK_HEADER)
      .meta({ variable: 'PLATFORM_WEBHOOK_HEADER', description: 'The header that carries the signature.' }),
  })
