import * as z from 'zod'
import { type SettingsOf, settingsGroup } from '../../settings/read.ts'

export const DEFAULT_NAME = 'Connect Starter'

/** One line of text that Markdown does not read as markup. */
const text = z
  .string()
  .regex(/^[^\p{Cc}`<>*_[\]|]{1,200}$/u, 'must be one line of plain text, without markup')

/** The registration sheet checks it further, and explains what is wrong. */
const address = z.string().regex(/^[^\p{Cc}`<>[\]|]{1,500}$/u, 'must be an address')

/** What platform support registers beside the settings of the core. Addresses are checked by the registration sheet. */
export const setupSettings = settingsGroup({
  variables: () => ({
    APP_NAME: text.default(DEFAULT_NAME).meta({
      description:
        "The name of the app on the platform's consent page. This and the next three are for the sheet of `npm run registration`; the app itself does not use them.",
    }),
    APP_LOGO_URL: address.optional().meta({
      description: 'The address of its logo.',
      example: 'https://app.example.com/logo.svg',
    }),
    APP_STAGING_URL: address.optional().meta({
      description: 'The public address of the staging environment.',
      example: 'https://staging.example.com',
    }),
    APP_PRODUCTION_URL: address.optional().meta({
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
export type SetupSettings = SettingsOf<typeof setupSettings>
