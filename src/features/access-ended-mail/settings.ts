import * as z from 'zod'
import { type Environment, field, type SettingsOf, webTexts } from '../../web/feature-api.ts'
import { isAddress } from './mail.ts'

export type AccessEndedMailSettings = SettingsOf<typeof accessEndedMailSettings>

/** `MAIL_URL` for the demo, which shows the emails in the sandbox. */
export const IN_SANDBOX = 'sandbox'

/** Whether a text is the address of a mail server, without parts that would change how emails are sent. */
function isServer(text: string): boolean {
  const url = URL.parse(text)
  const isPlain = url !== null && url.hostname !== '' && /^\/?$/.test(url.pathname) && !/[?#]/.test(text)
  return isPlain && /^smtps?:(?!.*%(?![\dA-Fa-f]{2}))/.test(url.href)
}

/** The sender in `no-reply@example.com` (named after the app) or `Name <no-reply@example.com>`; null for other texts. */
function senderOf(text: string): { name: string; address: string } | null {
  const [, name = webTexts.layout.appName, address = text] =
    /^"?([^<>"\p{Cc}]+?)"?\s*<([^<>]+)>$/u.exec(text) ?? []
  return isAddress(address) ? { name, address } : null
}

/** The settings for these emails; null if the app sends no email. */
export function accessEndedMailSettings(env: Environment) {
  const isSandbox = (url: string) => url === IN_SANDBOX && !field.isProduction(env)
  const needed = env.MAIL_URL ? field.required('the address that mails come from') : z.string().default('')
  return z
    .object({
      url: z
        .string()
        .optional()
        .refine(
          (url) => url === undefined || isSandbox(url) || isServer(url),
          'must be smtp://HOST:PORT or smtps://HOST:PORT, with USER:PASSWORD@ before the host if the server asks for it',
        )
        .meta({
          variable: 'MAIL_URL',
          description:
            'The mail server: `smtps://USER:PASSWORD@HOST:465`, or `smtp://USER:PASSWORD@HOST:587`, which begins TLS after it is connected. In production, the server must offer TLS, unless it is on this machine. Write special characters of the password as `%XX`. `sandbox`: the sandbox shows the emails, as in `npm run demo`. Unset: no emails, and the sign-in keeps no address. See docs/access-ended-mail.md.',
          example: 'smtps://user:password@mail.example.com:465',
        }),
      from: needed
        .refine(
          (from) => from === '' || senderOf(from),
          'must be an address such as no-reply@example.com, or Name <no-reply@example.com>',
        )
        .transform(senderOf)
        .meta({
          variable: 'MAIL_FROM',
          description:
            'The sender of the emails, with or without a name: `Name <no-reply@example.com>`. Without a name, the name of the app is used. Required with `MAIL_URL`.',
          example: 'no-reply@example.com',
        }),
    })
    .transform(({ url, from }) =>
      url === undefined || from === null
        ? null
        : { url, from, isTlsRequired: field.isProduction(env) && !field.isLoopback(new URL(url)) },
    )
}
