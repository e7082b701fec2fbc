import { type Request, Router } from 'express'
import * as z from 'zod'
import {
  connectionRef,
  type FeatureDeps,
  type ListFields,
  listPages,
  rejectForm,
  sendPageOrJson,
  sendResultOrRedirect,
} from '../../web/feature-api.ts'
import { createCatalogues, createdKey } from './catalogues.ts'
import { accessControlSchema, type Catalogue, externalRefSchema, newCatalogueSchema } from './contract.ts'
import { createGrants } from './grants.ts'
import { doneNow } from './history.ts'
import { cataloguePage } from './page.ts'
import { texts } from './texts.ts'

/** The filters and orders of the list. */
const FIELDS: ListFields = {
  search: 'name',
  filter: { field: 'scope', label: texts.scope, values: texts.scopes },
  orders: {
    latest: { orderBy: 'updatedAt desc', label: texts.latestFirst },
    name: { orderBy: 'name asc', label: texts.byName },
  },
}

/** A new catalogue from a form or JSON. Other fields are ignored. */
const catalogueBody = z.preprocess(
  (fields) => ({ name: Object(fields).name, scope: Object(fields).scope }),
  newCatalogueSchema,
)
/** An access control from a form, whose checkbox is "on" or absent, or from JSON. */
const accessControlBody = z.preprocess((fields) => {
  const { externalRef, isPreApproved = false } = Object(fields)
  return {
    externalRef: typeof externalRef === 'string' ? externalRef.trim() : externalRef,
    isPreApproved: isPreApproved === 'on' ? true : isPreApproved,
  }
}, accessControlSchema)

const pathOf = (bxcontext: string, id: string) =>
  `/connections/${encodeURIComponent(bxcontext)}/catalogues/${encodeURIComponent(id)}`

/** Routes that list, show and create the catalogues of a connection, and grant builders access. */
export function cataloguesRoutes({ connect, store, config }: FeatureDeps): Router {
  const { vault } = connect
  const catalogues = createCatalogues(connect.api)
  const grants = createGrants(store)
  const router = Router()
  const pages = listPages({
    view: 'catalogues/catalogues',
    title: texts.title,
    fields: FIELDS,
    load: (ref, page) => catalogues.list(vault.tokenSource(ref), page),
    data: (req) => ({ account: accountOf(req), catalogueTexts: texts }),
    keep: (req) => ({ account: accountOf(req) }),
  })
  router.get('/', pages.send)
  router.post('/', async (req, res) => {
    const ref = connectionRef(req)
    try {
      const given = catalogueBody.parse(req.body ?? {})
      const catalogue = await catalogues.create(vault.tokenSource(ref), given)
      await store.set(createdKey(config.platform.apiUrl, catalogue.id), 'created').catch(() => {})
      const location = pathOf(ref.bxcontext, catalogue.id)
      await sendResultOrRedirect(req, res, location, catalogue, { status: 201, notice: texts.created })
    } catch (error) {
      await rejectForm(req, res, error, () => pages.afterForm(req))
    }
  })
  router.get('/:id', async (req, res) => {
    const ref = connectionRef(req)
    const catalogue = await catalogues.get(vault.tokenSource(ref), req.params.id)
    const { data, ...page } = await cataloguePage(res, ref, catalogue, { grants })
    sendPageOrJson(req, res, { ...page, data: { ...data, account: accountOf(req) } })
  })
  router.post('/:id/access-controls', async (req, res) => {
    const ref = connectionRef(req)
    const { id } = req.params
    const source = vault.tokenSource(ref)
    // If the catalogue cannot be loaded, shows its id instead of its name.
    const shown = (): Promise<Catalogue> => catalogues.get(source, id).catch(() => ({ id }))
    try {
      const given = accessControlBody.parse(req.body ?? {})
      await catalogues.grantAccess(source, id, given)
      const catalogue = { catalogueId: id, catalogueName: (await shown()).name ?? id }
      await grants.note(ref, `${id} ${given.externalRef}`, { ...given, ...catalogue, ...doneNow(req) })
      const { granted, grantedPreApproved } = texts.grant
      const notice = (given.isPreApproved ? grantedPreApproved : granted)(given.externalRef)
      const result = { catalogueId: id, ...given }
      await sendResultOrRedirect(req, res, pathOf(ref.bxcontext, id), result, { status: 201, notice })
    } catch (error) {
      await rejectForm(req, res, error, async () => cataloguePage(res, ref, await shown(), { grants }))
    }
  })
  return router
}

/** The builder's account number, if a link to this page contains it, so that the form is filled in. */
const accountOf = (req: Request): string => externalRefSchema.safeParse(req.query.account).data ?? ''
