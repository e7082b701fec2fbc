import express, { Router } from 'express'
import * as z from 'zod'
import { NOT_AN_OBJECT, notFound, parseBody, requiredText } from '../../api.ts'
import type { SandboxCore } from '../../feature.ts'
import { bxcontextOf } from '../../guard.ts'
import { sendPage } from '../../odata.ts'
import { SCOPES } from '../../platform.ts'
import { createAccessControls } from './access-controls.ts'
import { createCatalogues } from './catalogues.ts'

const newCatalogue = z.object(
  { name: requiredText(200), scope: z.enum(['Public', 'Managed'], 'must be Public or Managed') },
  NOT_AN_OBJECT,
)
const EXTERNAL_REF_RULE = 'must be 1 to 255 letters and digits'
const accessControl = z.object(
  {
    externalRef: z.string(EXTERNAL_REF_RULE).regex(/^[A-Za-z0-9]{1,255}$/, EXTERNAL_REF_RULE),
    isPreApproved: z.boolean('must be true or false').default(false),
  },
  NOT_AN_OBJECT,
)

/** The API's operations on catalogues and access controls (specification 4.4). */
export function cataloguesApi({ sql, guard }: SandboxCore): Router {
  const { list, find, create, isOwn } = createCatalogues(sql)
  const { grant } = createAccessControls(sql)
  const isAllowed = guard(SCOPES.catalogues, 'catalogues')
  const json = express.json({ limit: '100kb' })
  return Router()
    .get('/catalogues', ...isAllowed, (req, res) => sendPage(req, res, list(bxcontextOf(res))))
    .post('/catalogues', ...isAllowed, json, (req, res) => {
      const body = parseBody(res, newCatalogue, req.body)
      if (body) res.status(201).json(create(bxcontextOf(res), body.name, body.scope))
    })
    .get('/catalogues/:id', ...isAllowed, (req, res) => {
      const id = String(req.params.id)
      return isOwn(bxcontextOf(res), id) ? void res.json(find(id)) : notFound(res)
    })
    .post('/catalogues/:id/accesscontrols', ...isAllowed, json, (req, res) => {
      const id = String(req.params.id)
      if (!isOwn(bxcontextOf(res), id)) return notFound(res)
      const body = parseBody(res, accessControl, req.body)
      if (!body) return
      grant(id, bxcontextOf(res), body.externalRef, body.isPreApproved)
      res.status(201).json({ catalogueId: id, ...body })
    })
}
