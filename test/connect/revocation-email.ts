import { createTransport } from 'nodemailer'
import type { Feature } from '../../src/web/kit.ts'

export interface RevocationEmailOptions {
  /** Your mail server, such as `smtps://user:password@mail.example`. */
  smtpUrl: string
  from: string
  /** Finds the email address of a user; undefined: there is none. */
  addressOf(userId: string): Promise<string | undefined>
}

/** An example for your own code: a feature that writes to the user when access is revoked. */
export const revocationEmail = ({ smtpUrl, from, addressOf }: RevocationEmailOptions): Feature => ({
  title: 'Revocation email',
  order: 300,
  create({ config, connect }) {
    const mail = createTransport(smtpUrl)
    const stop = connect.vault.onChange(async ({ userId, bxcontext }, events) => {
      for (const event of events) {
        if (event.type !== 'revoked') continue
        const to = await addressOf(userId)
        if (to === undefined) continue
        await mail.sendMail({
          from,
          to,
          subject: `${bxcontext} is no longer connected`,
          text: `Access has ended (${event.reason}).\n\nTo connect it again: ${config.baseUrl}/connections`,
        })
      }
    })
    return {
      async stop() {
        stop()
        mail.close()
      },
    }
  },
})
