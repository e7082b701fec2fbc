import { Router } from 'express'
import * as z from 'zod'
import { type Connect, idSchema } from '../../connect/index.ts'
import { connectionRef, type Feature, pageQuery } from '../../web/feature-api.ts'

const SCOPE = 'leads'
const lead = z.looseObject({ id: idSchema, status: z.string().nullish(), notes: z.string().nullish() })
const query = z.object({ status: z.string('is required') })
const body = z
  .strictObject({ status: z.string().max(40).optional(), notes: z.string().max(2000).optional() })
  .refine((changes) => Object.keys(changes).length > 0, 'must have a field to change')
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

export default {
  title: 'Lead status',
  order: 210,
  scopes: { [SCOPE]: 'to show the leads of the business, and to change them' },
  create: ({ connect }) => ({
    routes: [
      {
        path: '/connections/:bxcontext/lead-status',
        needsConnection: true,
        router: leadStatusRoutes(connect),
      },
    ],
  }),
} satisfies Feature

const leadStatusRoutes = ({ api, vault }: Connect) =>
  Router()
    .get('/', async (req, res) => {
      const call = { path: '/leads', scope: SCOPE, schema: z.array(lead) }
      const { status } = query.parse(req.query)
      const page = {
        ...pageQuery.parse(req.query),
        orderBy: 'createdAt desc',
        filter: `status eq ${quoted(status)}`,
      }
      res.json(await api.list(vault.tokenSource(connectionRef(req)), call, page))
    })
    .patch('/:id', async (req, res) => {
      const path = `/leads/${encodeURIComponent(req.params.id)}`
      const call = { path, scope: SCOPE, schema: lead, notFound: 'There is no such lead.' }
      res.json(await api.patch(vault.tokenSource(connectionRef(req)), call, body.parse(req.body)))
    })
