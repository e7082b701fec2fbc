import type { Feature } from '../../web/feature-api.ts'
import { sendMails } from './mails.ts'
import { type AccessEndedMailSettings, accessEndedMailSettings } from './settings.ts'

/** Emails a user when access to one of their connections has ended (`MAIL_URL`). */
export default {
  title: 'Tells users by mail when access has ended, with a link to reconnect',
  order: 110,
  settings: accessEndedMailSettings,
  check: () => import('./check.ts'),
  async create({ config, connect, http, store, signIn, log }, settings) {
    if (settings === null) return {}
    // Imported only here, so that an app without emails does not load nodemailer.
    const { createMailTransport } = await import('./transport.ts')
    const { baseUrl, platform } = config
    const transport = createMailTransport(settings, { http: http.api, sandboxUrl: platform.sandboxUrl })
    return sendMails({ vault: connect.vault, store, emailOf: signIn.useEmails(), transport, baseUrl, log })
  },
} satisfies Feature<AccessEndedMailSettings>
