import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import { appOwner, type Key, type KeyValueStore, update } from '../../connect/stores.ts'
import { type Layout, layoutSchema } from './layout.ts'

/** How long a layout is kept after one was last confirmed for the catalogue, in ms: longer than a price list lasts. */
const KEPT_MS = 400 * 86_400_000
/** How many layouts of one catalogue are kept: a file is read once for each of them that has its headings. */
const MAX_LAYOUTS = 5

/** Layouts belong to the supplier: whoever of its users uploads a file follows them. */
const layoutsKey = (supplier: string, catalogueId: string): Key => ({
  kind: 'price-layouts',
  owner: appOwner(`supplier ${supplier}`),
  id: catalogueId,
})

const parse = (value: string | null): Layout[] =>
  z.array(layoutSchema).safeParse(parseJson(value ?? '[]')).data ?? []

/** The confirmed layouts of a supplier's catalogue, the latest first. */
export const findLayouts = async (
  store: KeyValueStore,
  { bxcontext, catalogueId }: { bxcontext: string; catalogueId: string },
): Promise<Layout[]> => parse(await store.get(layoutsKey(bxcontext, catalogueId)))

/** Adds a confirmed layout, in place of an earlier one for the same files. The latest one that fits a file is followed. */
export async function addLayout(
  store: KeyValueStore,
  { bxcontext, catalogueId }: { bxcontext: string; catalogueId: string },
  layout: Layout,
): Promise<void> {
  const add = (value: string | null) => {
    const others = parse(value).filter((other) => filesOf(other) !== filesOf(layout))
    return JSON.stringify([layout, ...others].slice(0, MAX_LAYOUTS))
  }
  await update(store, layoutsKey(bxcontext, catalogueId), add, KEPT_MS)
}

/** What the files of a layout have in common. */
const filesOf = ({ sheets, otherSheets, texts }: Layout) =>
  JSON.stringify([
    sheets.map(({ name, columns }) => [name, columns.map(({ heading }) => heading)]),
    otherSheets,
    texts,
  ])
