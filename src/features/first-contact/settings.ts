import * as z from 'zod'
import * as field from '../../settings/fields.ts'
import { type Environment, type SettingsOf, settingsGroup } from '../../settings/read.ts'
import { texts } from '../../web/texts.ts'

/** One line of text that Markdown does not read as markup. */
const text = z
  .string()
  .regex(/^[^\p{Cc}`<>*_[\]|]{1,200}$/u, 'must be one line of plain text, without markup')

/** The address of an environment, as `BASE_URL` is. */
const environment = (env: Environment) =>
  field
    .baseAddress({ hint: '', env, parts: [] })
    .refine((url) => !url.includes('*'), 'must be an address without a wildcard')
    .optional()

/** What platform support registers beside the settings of the core. */
export const firstContactSettings = settingsGroup({
  variables: (env) => ({
    APP_NAME: text.default(texts.layout.appName).meta({
      description:
        "The name of the app on the platform's consent page. This and the next three are for the registration sheet; the app itself does not use them.",
    }),
    APP_LOGO_URL: field
      .httpAddress({ hint: '', env, parts: ['a path', 'a query'] })
      .optional()
      .meta({
        description: 'The address of its logo.',
        example: 'https://app.example.com/logo.svg',
      }),
    APP_STAGING_URL: environment(env).meta({
      description: 'The public address of the staging environment.',
      example: 'https://staging.example.com',
    }),
    APP_PRODUCTION_URL: environment(env).meta({
      description: 'The public address in production.',
      example: 'https://app.example.com',
    }),
  }),
  build: (values) => ({
    appName: values.APP_NAME,
    logoUrl: values.APP_LOGO_URL,
    stagingUrl: values.APP_STAGING_URL,
    productionUrl: values.APP_PRODUCTION_URL,
  }),
})
export type FirstContactSettings = SettingsOf<typeof firstContactSettings>
