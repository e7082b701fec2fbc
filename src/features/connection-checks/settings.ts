import * as field from '../../settings/fields.ts'
import { type SettingsOf, settingsGroup } from '../../settings/read.ts'

export type ConnectionChecksSettings = SettingsOf<typeof connectionChecksSettings>

export const connectionChecksSettings = settingsGroup({
  variables: () => ({
    CHECK_CONNECTIONS_EVERY: field.duration({ min: '1m', max: '30d' }).optional().meta({
      description:
        'How often every connection is checked, so that idle ones stay alive and a revocation is noticed, such as `30m`, `6h` or `1d`. Unset: no checks.',
      example: '6h',
    }),
  }),
  build: (values) => ({
    /** How often every connection is checked, in ms; undefined: never. */
    everyMs: values.CHECK_CONNECTIONS_EVERY,
  }),
})
