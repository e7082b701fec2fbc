import { Router } from 'express'
import type { Imports } from '../imports/jobs.ts'
import type { AccessControls } from '../platform/access-controls.ts'
import type { Catalogues } from '../platform/catalogues.ts'
import { accessControlSchema, CATALOGUE_SCOPES, newCatalogueSchema } from '../platform/contract.ts'
import type { Vault } from '../vault/vault.ts'
import type { Pending } from '../webhooks/pending.ts'
import { importView } from './imports.ts'
import { pageOf, pager } from './paging.ts'
import { done, respond } from './respond.ts'
import { requireUser } from './sign-in.ts'

export interface CataloguesOptions {
  catalogues: Catalogues
  accessControls: AccessControls
  imports: Imports
  pending: Pending
  vault: Vault
}

/** The catalogues of a connected account: list, create, one with its imports, who may see it. */
export function cataloguesRoutes(options: CataloguesOptions): Router {
  const { catalogues, accessControls, imports, pending, vault } = options
  const at = (context: string, id: string | number) =>
    `/connections/${encodeURIComponent(context)}/catalogues/${encodeURIComponent(id)}`

  return Router()
    .get('/connections/:context/catalogues', async (req, res) => {
      const [userId, { context }] = [requireUser(req), req.params]
      const page = pageOf(req)
      const { items, total } = await catalogues.list(vault.tokenSource(userId, context), page)
      const waiting = await pending.count(userId, context)
      respond(req, res, {
        view: 'catalogues',
        title: 'Catalogues',
        data: {
          context,
          catalogues: items,
          waiting,
          scopes: CATALOGUE_SCOPES,
          pager: pager({ items, total }, page),
        },
        json: { items, total },
      })
    })
    .post('/connections/:context/catalogues', async (req, res) => {
      const { context } = req.params
      const { name, scope } = req.body ?? {}
      const source = vault.tokenSource(requireUser(req), context)
      const catalogue = await catalogues.create(source, newCatalogueSchema.parse({ name, scope }))
      done(req, res, at(context, catalogue.id), catalogue, 201)
    })
    .get('/connections/:context/catalogues/:id', async (req, res) => {
      const [userId, { context, id }] = [requireUser(req), req.params]
      const catalogue = await catalogues.get(vault.tokenSource(userId, context), id)
      const jobs = (await imports.list(userId, context)).filter((job) => job.catalogueId === id)
      const granted = typeof req.query.granted === 'string' ? req.query.granted : null
      respond(req, res, {
        view: 'catalogue',
        title: catalogue.name ?? String(catalogue.id),
        data: {
          context,
          catalogue,
          granted,
          approved: 'approved' in req.query,
          imports: jobs.map(importView),
        },
        json: { ...catalogue, imports: jobs.map(importView) },
      })
    })
    .post('/connections/:context/catalogues/:id/access-controls', async (req, res) => {
      const { context, id } = req.params
      const { externalRef, isPreApproved } = req.body ?? {}
      const accessControl = accessControlSchema.parse({
        externalRef: typeof externalRef === 'string' ? externalRef.trim() : externalRef,
        isPreApproved: isPreApproved === undefined ? false : isPreApproved === 'on' ? true : isPreApproved,
      })
      await accessControls.create(vault.tokenSource(requireUser(req), context), id, accessControl)
      const granted = encodeURIComponent(accessControl.externalRef)
      const to = `${at(context, id)}?granted=${granted}${accessControl.isPreApproved ? '&approved' : ''}`
      done(req, res, to, { catalogueId: id, ...accessControl }, 201)
    })
}
