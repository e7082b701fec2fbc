import type { CheckContext, Finding } from '../../web/kit.ts'
import { type AccessEndedMailSettings, IN_SANDBOX } from './settings.ts'
import { failureOf, openServer } from './transport.ts'

/** Signs in at the mail server, and sends nothing. */
export default async function checkServer(
  _context: CheckContext,
  settings: AccessEndedMailSettings,
): Promise<Finding[]> {
  if (settings === null || settings.url === IN_SANDBOX) return []
  const [id, setting] = ['access-ended-mail.server', 'MAIL_URL']
  const server = openServer(settings)
  try {
    await server.verify()
    return [{ id, status: 'ok', setting, text: `${setting}: the mail server accepts this app` }]
  } catch (error) {
    const text = `${setting}: the mail server cannot be used (${failureOf(error).reason})`
    return [{ id, status: 'failure', setting, text }]
  } finally {
    server.close()
  }
}
