import * as z from 'zod'
import { type SettingsOf, settingsGroup } from '../../settings/read.ts'

/** What platform support registers beside the settings of the core. Addresses are checked by the registration sheet. */
export const setupSettings = settingsGroup({
  variables: () => ({
    APP_NAME: z.string().default('Connect Starter'),
    APP_LOGO_URL: z.string().optional(),
    APP_STAGING_URL: z.string().optional(),
    APP_PRODUCTION_URL: z.string().optional(),
  }),
  build: (values) => ({
    appName: values.APP_NAME,
    logoUrl: values.APP_LOGO_URL,
    stagingUrl: values.APP_STAGING_URL,
    productionUrl: values.APP_PRODUCTION_URL,
  }),
})
export type SetupSettings = SettingsOf<typeof setupSettings>
