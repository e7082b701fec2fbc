import * as z from 'zod'
import { isProduction, isSandboxSecret, required } from '../../settings/fields.ts'
import { type Environment, type SettingsGroup, settingsGroup } from '../../settings/read.ts'
import type { FirstPartyCredentials } from './first-party.ts'

const credential = required('first-party access needs an email address, an API key and a subscription key')

function credentials(env: Environment) {
  const key = credential.refine(
    (value) => !isProduction(env) || !isSandboxSecret(value),
    "is the sandbox's (ask the platform's support team)",
  )
  return {
    PLATFORM_API_EMAIL: credential.meta({
      description:
        'The email address of the user who created the API key. Set this and the next two, or none: then there is no access by API key.',
      sandbox: 'priya@summit.example',
    }),
    PLATFORM_API_KEY: key.meta({
      description: "The API key, from the platform's API keys page.",
      sandbox: 'sandbox-api-key',
    }),
    PLATFORM_SUBSCRIPTION_KEY: key.regex(/^[\x21-\x7e]+$/, 'has invalid characters').meta({
      description: 'The subscription key. It is sent with every call.',
      sandbox: 'sandbox-subscription-key',
    }),
  }
}

const tenant = {
  PLATFORM_TENANT_ID: z.string().optional().meta({
    description: "The tenant to act for; `npm run tenants` lists them. Unset: the account's own.",
  }),
}

/** For commands that use an API key, which is required. */
export const requiredFirstPartySettings = settingsGroup({
  variables: (env) => ({ ...credentials(env), ...tenant }),
  build: (values): FirstPartyCredentials => ({
    email: values.PLATFORM_API_EMAIL,
    apiKey: values.PLATFORM_API_KEY,
    subscriptionKey: values.PLATFORM_SUBSCRIPTION_KEY,
    tenantId: values.PLATFORM_TENANT_ID,
  }),
})

/** For the app, where the credentials are optional: either all of them are set, or the settings are null. */
export const firstPartySettings: SettingsGroup<FirstPartyCredentials | null> = {
  ...requiredFirstPartySettings,
  variables(env) {
    const fields = credentials(env)
    const isSet = Object.keys(fields).some((name) => env[name])
    return { ...(isSet ? fields : z.object(fields).partial().shape), ...tenant }
  },
  build: (values) => (values.PLATFORM_API_KEY ? requiredFirstPartySettings.build(values) : null),
}

export type FirstPartySettings = FirstPartyCredentials | null
