import { isProduction, isSandboxSecret, isWeak, list, pattern } from '../../settings/fields.ts'
import { type SettingsOf, settingsGroup } from '../../settings/read.ts'
import { WEBHOOK_HEADER } from './contract.ts'

export type BuilderRequestsSettings = SettingsOf<typeof builderRequestsSettings>

export const builderRequestsSettings = settingsGroup({
  variables: (env) => ({
    PLATFORM_WEBHOOK_SECRET: list()
      .refine(
        (secrets) =>
          !isProduction(env) || !secrets.some((secret) => isWeak(secret, 16) || isSandboxSecret(secret)),
        "is too weak (use 16 characters or more, and not the sandbox's secret)",
      )
      .meta({
        description:
          "The secret from the platform's Webhooks page, where `BASE_URL/webhooks/platform` is registered. Separate several with commas: a delivery signed with any of them is accepted. Unset: no webhook, and pages poll.",
        sandbox: 'sandbox-webhook-secret',
      }),
    PLATFORM_WEBHOOK_HEADER: pattern(/^[\w-]{1,100}$/, 'must be a header name')
      .default(WEBHOOK_HEADER)
      .meta({ description: 'The header that carries the signature.' }),
  }),
  build: (values) => ({
    /** A signature may match any of them; if empty, the webhook is disabled. */
    webhookSecrets: values.PLATFORM_WEBHOOK_SECRET,
    webhookHeader: values.PLATFORM_WEBHOOK_HEADER,
  }),
})
