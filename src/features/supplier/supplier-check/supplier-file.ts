import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { parseJson } from '../../../connect/index.ts'
import { NEAREST } from '../api/contract.ts'

/** The assumed name of a field that the specification doesn't name. */
const named = (assumed: string) => z.string().min(1).default(assumed)

const text = z.string().min(1)
/** The price of one unit of each item, in dollars before tax, after all discounts. */
const pricesSchema = z.record(text, z.number().nonnegative())

const supplierSchema = z.strictObject({
  /** `{supplier_base_url}`. */
  baseUrl: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, '')),
  clientId: text,
  clientSecret: text,
  /** The format of token requests, which the specification doesn't define. */
  tokenRequest: z.enum(['form', 'json']).default('form'),
  /** The coordinates of a place near a store, in degrees. */
  near: z.strictObject({ latitude: z.number(), longitude: z.number() }),
  /** The id of the store that has the prices. */
  store: z.union([text, z.number()]),
  prices: pricesSchema.refine((prices) => Object.keys(prices).length > 0, 'must have an item'),
  /** The prices of members, by their numbers. */
  memberPrices: z.record(text, pricesSchema).default({}),
  /** The supplier's names of fields. In an answer, a name may be a path, such as `error.code` or `errors.0.text`. */
  names: z
    .strictObject({
      access_token: named('access_token'),
      latitude: named(NEAREST.latitude),
      longitude: named(NEAREST.longitude),
      radius: named(NEAREST.radius),
      id: named('id'),
      memberNumber: named('memberNumber'),
      items: named('items'),
      itemId: named('itemId'),
      storeId: named('storeId'),
      quantity: named('quantity'),
      errorCode: named('errorCode'),
      errorMessage: named('errorMessage'),
    })
    .prefault({}),
})

/** The facts about a supplier that the check needs, as the user writes them into a file. */
export type SupplierFile = z.infer<typeof supplierSchema>

/** Reads a JSON file about a supplier. Throws an error that lists wrong fields without their values: the file contains a secret. */
export async function readSupplierFile(path: string): Promise<SupplierFile> {
  const { data, error } = supplierSchema.safeParse(parseJson(await readFile(path, 'utf8')))
  if (data) return data
  throw new Error(`${path} must describe a supplier in JSON:\n${z.prettifyError(error)}`)
}
