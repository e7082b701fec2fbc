import { Router } from 'express'
import {
  type AccessControl,
  accessControlSchema,
  type Catalogue,
  newCatalogueSchema,
} from '../../connect/platform/contract.ts'
import type { Vault } from '../../connect/vault/vault.ts'
import { rejectForm } from '../../web/errors.ts'
import { pageOf, pager } from '../../web/paging.ts'
import { done, respond } from '../../web/respond.ts'
import { requireUser } from '../../web/sign-in.ts'
import type { Pending } from '../builder-requests/pending.ts'
import type { Imports } from '../price-files/import-service.ts'
import { importView } from '../price-files/routes.ts'
import type { AccessControls } from './access-controls.ts'
import type { Catalogues } from './catalogues.ts'

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
          pager: pager({ items, total }, page),
        },
        json: { items, total },
      })
    })
    .post('/connections/:context/catalogues', async (req, res) => {
      const { context } = req.params
      const { name, scope } = req.body ?? {}
      const source = vault.tokenSource(requireUser(req), context)
      try {
        const catalogue = await catalogues.create(source, newCatalogueSchema.parse({ name, scope }))
        await done(req, res, at(context, catalogue.id), catalogue, {
          status: 201,
          notice: 'The catalogue was created.',
        })
      } catch (error) {
        await rejectForm(req, res, error, async () => ({
          view: 'catalogues',
          title: 'Catalogues',
          data: { context, catalogues: null, waiting: 0, pager: null },
        }))
      }
    })
    .get('/connections/:context/catalogues/:id', async (req, res) => {
      const [userId, { context, id }] = [requireUser(req), req.params]
      const page = await cataloguePage(userId, context, id)
      respond(req, res, { ...page, json: { ...page.data.catalogue, imports: page.data.imports } })
    })
    .post('/connections/:context/catalogues/:id/access-controls', async (req, res) => {
      const [userId, { context, id }] = [requireUser(req), req.params]
      const { externalRef, isPreApproved } = req.body ?? {}
      try {
        const accessControl = accessControlSchema.parse({
          externalRef: typeof externalRef === 'string' ? externalRef.trim() : externalRef,
          isPreApproved: isPreApproved === undefined ? false : isPreApproved === 'on' ? true : isPreApproved,
        })
        await accessControls.create(vault.tokenSource(userId, context), id, accessControl)
        await done(
          req,
          res,
          at(context, id),
          { catalogueId: id, ...accessControl },
          {
            status: 201,
            notice: grantedNotice(accessControl),
          },
        )
      } catch (error) {
        await rejectForm(req, res, error, () => cataloguePageOr(userId, context, id))
      }
    })

  async function cataloguePage(userId: string, context: string, id: string) {
    const catalogue = await catalogues.get(vault.tokenSource(userId, context), id)
    return pageOfCatalogue(userId, context, catalogue)
  }

  /** The page of a catalogue, without what only the platform knows when it does not say. */
  function cataloguePageOr(userId: string, context: string, id: string) {
    return cataloguePage(userId, context, id).catch(() => pageOfCatalogue(userId, context, { id }))
  }

  async function pageOfCatalogue(userId: string, context: string, catalogue: Catalogue) {
    const jobs = (await imports.list(userId, context)).filter(
      (job) => job.catalogueId === String(catalogue.id),
    )
    return {
      view: 'catalogue',
      title: catalogue.name ?? String(catalogue.id),
      data: { context, catalogue, imports: jobs.map(importView) },
    }
  }
}

function grantedNotice({ externalRef, isPreApproved }: AccessControl): string {
  const approved = isPreApproved ? ', and is connected without asking you' : ''
  return `The builder with the account number ${externalRef} may now see this catalogue${approved}.`
}
