import type { CheckContext, Finding } from '../../web/feature-api.ts'
import { type AccessEndedMailSettings, IN_SANDBOX } from './settings.ts'
import { hasAnswered, mailError, openServer } from './transport.ts'

/** Logs in to the mail server without sending. */
export default async function checkServer(
  { noAnswer }: CheckContext,
  settings: AccessEndedMailSettings,
): Promise<Finding[]> {
  if (settings === null || settings.url === IN_SANDBOX) return []
  const about = { id: 'access-ended-mail.server', setting: 'MAIL_URL' }
  const server = openServer(settings)
  try {
    await server.verify()
    return [{ ...about, status: 'ok', text: 'MAIL_URL: the mail server accepts this app' }]
  } catch (error) {
    const { reason = '' } = mailError(error)
    if (!hasAnswered(error)) return [noAnswer('MAIL_URL', new URL(settings.url).host, reason)]
    return [{ ...about, status: 'failure', text: `MAIL_URL: ${reason}` }]
  } finally {
    server.close()
  }
}
