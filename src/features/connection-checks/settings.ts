import * as z from 'zod'
import { field, type SettingsOf } from '../../web/feature-api.ts'

export type ConnectionChecksSettings = SettingsOf<typeof connectionChecksSettings>

export const connectionChecksSettings = () =>
  z.object({
    everyMs: field.duration({ min: '1m', max: '30d' }).optional().meta({
      variable: 'CHECK_CONNECTIONS_EVERY',
      description:
        'How often every connection is checked, so that idle ones stay alive and a revocation is noticed, such as `30m`, `6h` or `1d`. Unset: no checks.',
      example: '6h',
    }),
  })
