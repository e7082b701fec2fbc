import { Router } from 'express'
import type { Catalogues } from '../platform/catalogues.ts'
import type { Vault } from '../vault/vault.ts'
import { pageOf, pager } from './paging.ts'
import { respond } from './respond.ts'
import { requireUser } from './sign-in.ts'

/** The catalogues of a connected account: list, one. */
export function cataloguesRoutes({ catalogues, vault }: { catalogues: Catalogues; vault: Vault }): Router {
  return Router()
    .get('/connections/:context/catalogues', async (req, res) => {
      const { context } = req.params
      const source = vault.tokenSource(requireUser(req), context)
      const page = pageOf(req)
      const { items, total } = await catalogues.list(source, page)
      respond(req, res, {
        view: 'catalogues',
        title: 'Catalogues',
        data: { context, catalogues: items, pager: pager({ items, total }, page) },
        json: { items, total },
      })
    })
    .get('/connections/:context/catalogues/:id', async (req, res) => {
      const { context, id } = req.params
      const catalogue = await catalogues.get(vault.tokenSource(requireUser(req), context), id)
      respond(req, res, {
        view: 'catalogue',
        title: catalogue.name ?? String(catalogue.id),
        data: { context, catalogue },
        json: catalogue,
      })
    })
}
