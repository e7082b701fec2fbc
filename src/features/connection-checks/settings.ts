import * as field from '../../settings/fields.ts'
import { type SettingsOf, settingsGroup } from '../../settings/read.ts'

export type ConnectionChecksSettings = SettingsOf<typeof connectionChecksSettings>

export const connectionChecksSettings = settingsGroup({
  variables: () => ({
    CHECK_CONNECTIONS_EVERY: field.duration({ min: '1m', max: '30d' }).optional(),
  }),
  build: (values) => ({
    /** How often every connection is checked, in ms; undefined: never. */
    everyMs: values.CHECK_CONNECTIONS_EVERY,
  }),
})
