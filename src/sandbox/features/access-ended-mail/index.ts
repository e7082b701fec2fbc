import { json, Router } from 'express'
import * as z from 'zod'
import type { SandboxFeature } from '../../feature.ts'
import { page, problem } from '../../pages.ts'

const mailSchema = z.object({
  from: z.object({ name: z.string(), address: z.string() }),
  to: z.string(),
  subject: z.string(),
  text: z.string(),
})
type Mail = z.infer<typeof mailSchema> & { receivedAt: number }

/** How many of the latest emails are kept until the sandbox stops. */
const MAX_MAILS = 50
const ADDRESS = /(https?:\/\/\S+)/

/** An email as the page shows it: paragraphs, each of which is split into parts. Every second part is an address. */
const shown = ({ text, ...mail }: Mail) => ({
  ...mail,
  paragraphs: text.split('\n\n').map((paragraph) => paragraph.split(ADDRESS)),
})

/** Shows the emails of the app, which in production go to a mail server. */
export default {
  create() {
    let mails: Mail[] = []
    return {
      reset() {
        mails = []
      },
      links: [{ href: '/mails', label: 'Mails' }],
      routes: Router()
        .get('/mails', (req, res) =>
          page(res, 'access-ended-mail/mails', {
            title: 'Mails',
            account: req.account,
            mails: mails.map(shown),
          }),
        )
        .post('/mails', json(), (req, res) => {
          const { data } = mailSchema.safeParse(req.body)
          if (!data) return problem(res, 400, 'The request has no mail.')
          mails = [{ ...data, receivedAt: Date.now() }, ...mails].slice(0, MAX_MAILS)
          res.status(204).end()
        }),
    }
  },
  demoEnv: { MAIL_URL: 'sandbox', MAIL_FROM: 'no-reply@connect.example' },
} satisfies SandboxFeature
