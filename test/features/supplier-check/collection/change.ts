// Small helpers to describe how a supplier differs from the reference.

import type { Answer, Call, Data, Steps } from './supplier.ts'
import { defaultOptions, json } from './supplier.ts'

type Change = (answer: Answer, call: Call) => Answer | Promise<Answer>

// Changes each answer.
export const answers =
  (change: Change) =>
  (base: Steps): Partial<Steps> => ({
    handle: async (call) => change(await base.handle(call), call),
  })

// Changes the answers of one address that succeed.
export const succeeded = (path: string, change: Change) =>
  answers((answer, call) =>
    call.path.startsWith(path) && answer.status === 200 ? change(answer, call) : answer,
  )

// Changes the JSON of answers that succeed.
export const value = (path: string, change: (value: any, call: Call) => unknown) =>
  succeeded(path, (answer, call) =>
    json(200, change(JSON.parse(answer.body.toString()), call), answer.headers),
  )

export const tokenValue = (change: (value: any) => unknown) => value('/connect/token', change)
export const searchValue = (change: (value: any[], call: Call) => unknown) => value('/stores/nearest', change)
export const priceValue = (change: (value: any[], call: Call) => unknown) => value('/request-prices', change)

export const pricedLine = (change: (line: any) => void) =>
  priceValue((lines) => lines.map((line) => (line.totalPrice === null || change(line), line)))
export const failedLine = (change: (line: any) => void) =>
  priceValue((lines) => lines.map((line) => (line.totalPrice !== null || change(line), line)))

// Gives stores other ids, also where an item is not sold.
export const storeIds = (rename: (id: string, index: number) => string) => (data: Data) => {
  const ids = new Map(data.stores.map((store, index) => [store.id, rename(store.id, index)]))
  for (const store of data.stores) store.id = ids.get(store.id)!
  for (const item of data.items) item.notAt = item.notAt.map((id) => ids.get(id)!)
}

export const options = (changes: {
  items?: string[]
  member?: string
  notInRange?: string
  more?: string[]
}) => [
  ...(changes.items ?? ['A-100', 'A-200']).flatMap((item) => ['--item', item]),
  '--member',
  changes.member ?? 'M-1001',
  '--not-in-range',
  changes.notInRange ?? 'A-300@ST-102',
  ...(changes.more ?? []),
]

export const near = (latitude: number, longitude: number) => [
  ...defaultOptions,
  '--near',
  `${latitude},${longitude}`,
]

export const parsed = (call: Call) => JSON.parse(call.body.toString())
