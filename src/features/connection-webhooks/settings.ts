import * as z from 'zod'
import * as field from '../../settings/fields.ts'
import { type SettingsOf, settingsGroup } from '../../settings/read.ts'

export type ConnectionWebhooksSettings = SettingsOf<typeof connectionWebhooksSettings>

const EVENT_TYPES = [
  'connected',
  'refreshed',
  'refreshFailed',
  'recovered',
  'revoked',
  'disconnected',
] as const
const HOW_TO_CREATE = '`echo "whsec_$(openssl rand -base64 32)"` prints a new one'

export const connectionWebhooksSettings = settingsGroup({
  variables: (env) => ({
    CONNECTION_WEBHOOK_URL: field.httpAddress({ hint: '', env, parts: ['a path', 'a query'] }).optional(),
    CONNECTION_WEBHOOK_SECRET: secrets().refine(
      (keys) => !env.CONNECTION_WEBHOOK_URL || keys.length > 0,
      `is required with CONNECTION_WEBHOOK_URL (${HOW_TO_CREATE})`,
    ),
    CONNECTION_WEBHOOK_EVENTS: z
      .string()
      .default('connected,revoked,recovered,disconnected')
      .transform((text) => text.split(',').map((name) => name.trim()))
      .pipe(z.array(z.enum(EVENT_TYPES, `must be some of ${EVENT_TYPES.join(', ')}, separated by commas`))),
  }),
  build: (values) =>
    values.CONNECTION_WEBHOOK_URL === undefined
      ? null
      : {
          url: values.CONNECTION_WEBHOOK_URL,
          /** Every delivery is signed with each of them. */
          secrets: values.CONNECTION_WEBHOOK_SECRET,
          events: values.CONNECTION_WEBHOOK_EVENTS,
        },
})

/** Secrets as Standard Webhooks serialize them: `whsec_` and 24 to 64 bytes in base64. */
const secrets = () =>
  field
    .list()
    .refine(
      (texts) => texts.every((text) => /^whsec_[A-Za-z\d+/]+={0,2}$/.test(text) && hasLength(text)),
      `must be whsec_ and 24 to 64 bytes in base64 (${HOW_TO_CREATE}); several are separated by commas`,
    )
    .transform((texts) => texts.map(bytesOf))

const bytesOf = (text: string) => Buffer.from(text.slice('whsec_'.length), 'base64')
const hasLength = (text: string) => bytesOf(text).length >= 24 && bytesOf(text).length <= 64
