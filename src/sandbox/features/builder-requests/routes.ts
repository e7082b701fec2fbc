import { randomBytes } from 'node:crypto'
import { Router } from 'express'
import { ownBusiness } from '../../business-setup.ts'
import { leaveNotice, problem } from '../../pages.ts'
import { partiesOf } from '../catalogues/suppliers.ts'
import { type createBuilderRequests, describeRequest } from './requests.ts'
import { type Webhooks, webhookSchema } from './webhooks.ts'

/** The form with which a builder asks to connect, and the forms of webhooks in Business setup. */
export function builderRequestsRoutes(
  requests: ReturnType<typeof createBuilderRequests>,
  webhooks: Webhooks,
): Router {
  return Router()
    .post('/suppliers/:builder/:supplier/ask', (req, res) => {
      const parties = partiesOf(req, res)
      if (!parties) return
      const { builder, supplier } = parties
      const externalRef = String(req.body?.externalRef ?? '').trim()
      if (!/^[A-Za-z0-9]{1,255}$/.test(externalRef))
        return problem(res, 400, 'The account number must be 1 to 255 letters and digits.', req.account)
      const request = requests.ask(builder.bxcontext, supplier, externalRef)
      if (request) webhooks.emit(supplier, 'integration-connection.requested', describeRequest(request))
      leaveNotice(
        res,
        'The request was sent. The supplier sees it in the app under Builder requests, and accepts or rejects it.',
      )
      res.redirect(303, '/suppliers')
    })
    .post('/business-setup/:bxcontext/webhook', (req, res) => {
      const business = ownBusiness(req, res)
      if (!business) return
      const { bxcontext } = business
      const field = (name: string) => String(req.body?.[name] ?? '').trim()
      const url = field('url')
      if (url === '') webhooks.remove(bxcontext)
      else {
        const known = webhooks.find(bxcontext)?.secret
        const secret = field('secret') || known || randomBytes(24).toString('base64url')
        const { data } = webhookSchema.safeParse({ url, secret })
        if (!data) return problem(res, 400, 'The webhook needs an http or https address.', req.account)
        webhooks.save(bxcontext, data)
      }
      leaveNotice(
        res,
        url === ''
          ? 'The webhook was removed. The app polls instead.'
          : 'The webhook was saved. The next event is sent there.',
      )
      res.redirect(303, '/business-setup')
    })
    .post('/business-setup/:bxcontext/deliveries/:id/repeat', async (req, res) => {
      const business = ownBusiness(req, res)
      if (!business) return
      if (!(await webhooks.repeat(business.bxcontext, req.params.id)))
        return problem(res, 404, 'This delivery no longer exists.', req.account)
      leaveNotice(res, 'The event was sent again. The app recognises it by its id and does nothing twice.')
      res.redirect(303, '/business-setup')
    })
}
