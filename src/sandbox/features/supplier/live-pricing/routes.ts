import { type Request, Router } from 'express'
import type { SandboxCore } from '../../../feature.ts'
import { page, problem } from '../../../pages.ts'
import { createCatalogues } from '../../catalogues/catalogues.ts'
import { createItems } from '../../catalogues/items.ts'
import { createConnections } from '../builder-requests/connections.ts'
import { pickedCodes, visibleCatalogue } from '../builder-requests/suppliers.ts'
import { nameOf } from '../businesses.ts'
import { LivePricingCallError, openLivePricing, type Registration } from './client.ts'
import { PLACES } from './samples.ts'

/** The maximum number of items priced at once. */
const MAX_ITEMS = 50
const PLACE_NAMES = PLACES.map(({ name }) => name)
const UNKNOWN_PLACE = `Enter a suburb or town that the sandbox knows (${PLACE_NAMES.join(', ')}), or a latitude and a longitude, such as -37.77, 145.`

/**
 * The page of live prices: the picked items, the stores near a place, and the supplier's prices in the chosen store. The form's
 * fields are in the page's address, so that it can be bookmarked.
 */
export function livePricesRoutes(
  { sql, journal }: SandboxCore,
  registered: Readonly<Record<string, Registration>>,
): Router {
  const { isPublished } = createCatalogues(sql)
  const { byCode } = createItems(sql)
  const { between } = createConnections(sql)
  return Router().get('/suppliers/:builder/:supplier/:catalogue/live-prices', async (req, res) => {
    const found = visibleCatalogue(sql, req, res)
    if (!found) return
    const { catalogue, supplier, builder, path } = found
    const { account, query } = req
    const refuse = (status: number, message: string) =>
      problem(res, status, `${message} No prices were requested.`, account)
    // Specification 1.2: the platform requests prices only for items in published catalogues.
    if (!isPublished(catalogue.id))
      return refuse(409, 'This catalogue is not published yet: its import is not completed.')
    const codes = pickedCodes(req)
    const items = byCode(catalogue.id, codes.slice(0, MAX_ITEMS))
    if (items.length < codes.length)
      return refuse(400, `At most ${MAX_ITEMS} items of this catalogue are priced at once.`)
    const [asked, quantities] = [listOf(query.item), listOf(query.quantity)]
    const rows = items.map((item) => ({ item, quantity: quantities[asked.indexOf(item.code)] ?? '1' }))
    const form = readForm(query, between(builder.bxcontext, supplier)?.externalRef ?? '')
    const open = () => openLivePricing(registered[supplier], journal)
    const answers = query.address === undefined ? {} : await answersOf(form, rows, open)
    const shown = { title: 'Live prices', account, catalogue, path, supplierName: nameOf(supplier) }
    page(res, 'supplier/live-pricing/live-prices', { ...shown, form, rows, places: PLACE_NAMES, ...answers })
  })
}

const listOf = (value: unknown): string[] => [value ?? []].flat().map((one) => String(one).slice(0, 200))

function readForm({ address, radius, store, member }: Request['query'], memberNumber: string) {
  const [given = memberNumber] = listOf(member)
  const [[place = ''], [within = '25'], [chosen = '']] = [listOf(address), listOf(radius), listOf(store)]
  return { address: place.trim(), radius: within.trim(), store: chosen, member: given.trim() }
}

/** The stores near the form's place and the supplier's answers, in the order of the rows; or the reason why they're missing. */
async function answersOf(
  form: ReturnType<typeof readForm>,
  rows: { item: { code: string }; quantity: string }[],
  open: () => ReturnType<typeof openLivePricing>,
) {
  const place = findPlace(form.address)
  if (!place) return { problem: UNKNOWN_PLACE }
  try {
    const supply = await open()
    const stores = await supply.nearest({ ...place, radius: form.radius })
    if (!stores.some(({ id }) => id === form.store)) form.store = stores[0]?.id ?? ''
    if (form.store === '' || rows.length === 0) return { stores }
    // Sends invalid quantities too, because the supplier must report them as errors of their items.
    const lines = rows.map(({ item, quantity }) => ({
      itemId: item.code,
      storeId: form.store,
      quantity: quantity.trim() === '' ? Number.NaN : Number(quantity),
    }))
    return { stores, answers: await supply.prices(lines, form.member) }
  } catch (error) {
    if (error instanceof LivePricingCallError) return { problem: error.message }
    throw error
  }
}

/** The place to search near; undefined if the sandbox does not know it. */
function findPlace(address: string) {
  const [, latitude, longitude] = /^(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)$/.exec(address) ?? []
  if (latitude && longitude) return { latitude, longitude }
  const named = PLACES.find(({ name }) => address.toLowerCase().includes(name.toLowerCase()))
  return named && { latitude: named.latitude, longitude: named.longitude }
}
