import * as z from 'zod'
import { type Environment, field, type SettingsOf } from '../../../web/feature-api.ts'

const credential = field.required(
  'first-party access needs an email address, an API key and a subscription key',
)

/** The settings of commands that use an API key: the credentials are required. */
export function requiredFirstPartySettings(env: Environment) {
  const key = credential.refine(
    (value) => !field.isProduction(env) || !field.isSandboxSecret(value),
    "is the sandbox's (ask the platform's support team)",
  )
  return z.object({
    email: credential.meta({
      variable: 'PLATFORM_API_EMAIL',
      description:
        'The email address of the user who created the API key. Set this setting and the next two, or none of them: then there is no access by API key.',
      sandbox: 'priya@summit.example',
    }),
    apiKey: key.meta({
      variable: 'PLATFORM_API_KEY',
      description: "The API key, from the platform's API keys page.",
      sandbox: 'sandbox-api-key',
    }),
    subscriptionKey: key.regex(/^[\x21-\x7e]+$/, 'has invalid characters').meta({
      variable: 'PLATFORM_SUBSCRIPTION_KEY',
      description: 'The subscription key. It is sent with every call.',
      sandbox: 'sandbox-subscription-key',
    }),
    tenantId: z.string().optional().meta({
      variable: 'PLATFORM_TENANT_ID',
      description:
        "The tenant to act for; `npm run feature -- first-party tenants` lists them. Unset: the account's own.",
    }),
  })
}

/** The settings of the app, where the credentials are optional: either all of them are set, or the settings are null. */
export function firstPartySettings(env: Environment): z.ZodType<FirstPartySettings> {
  const schema = requiredFirstPartySettings(env)
  const isSet = env.PLATFORM_API_EMAIL || env.PLATFORM_API_KEY || env.PLATFORM_SUBSCRIPTION_KEY
  return isSet ? schema : schema.partial().transform(() => null)
}

export type FirstPartyCredentials = SettingsOf<typeof requiredFirstPartySettings>
export type FirstPartySettings = FirstPartyCredentials | null
