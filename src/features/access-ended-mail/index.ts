import type { Feature } from '../../web/kit.ts'
import { sendMails } from './mails.ts'
import { type AccessEndedMailSettings, accessEndedMailSettings } from './settings.ts'

/** Writes to a user when access to one of their connections has ended (`MAIL_URL`). */
export default {
  title: 'Tells users by mail when access has ended, with a link to reconnect',
  order: 110,
  settings: accessEndedMailSettings,
  mailsUsers: (settings) => settings !== null,
  check: () => import('./check.ts'),
  async create({ config, connect, http, emailOf, log }, settings) {
    if (settings === null) return {}
    // Only here: nodemailer is a part of the app's start that only those who send mails need.
    const { createMailTransport } = await import('./transport.ts')
    const { sandboxUrl } = config.platform
    const transport = createMailTransport(settings, { http: http.api, sandboxUrl })
    const { baseUrl } = config
    return sendMails({ vault: connect.vault, emailOf, transport, from: settings.from, baseUrl, log })
  },
} satisfies Feature<AccessEndedMailSettings>
