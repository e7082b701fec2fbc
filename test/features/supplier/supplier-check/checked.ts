import {
  checkSupplier,
  type Finding,
} from '../../../../src/features/supplier/supplier-check/check-supplier.ts'
import { SupplierClient } from '../../../../src/features/supplier/supplier-check/client.ts'
import type { Known } from '../../../../src/features/supplier/supplier-check/rule.ts'
import { type Change, CLIENT, modelFetch } from './model.ts'

export const price = (code: string, amount: number, memberNumber?: string) => ({
  code,
  price: amount,
  tolerance: 0.005,
  memberNumber,
})

/** All that there is to know about the model. */
export const KNOWN: Known = {
  prices: [price('A-1', 10), price('B-2', 20.5)],
  memberPrices: [price('A-1', 9, 'M-1'), price('B-2', 20.5, 'M-1')],
  storeId: 'melbourne',
  near: undefined,
  notInRange: [{ itemId: 'B-2', storeId: 'perth' }],
  waitMs: 10_000,
}

/** Checks the model with a change, by a clock that only the sleeping of the check turns forward. */
export function check(
  change?: Change,
  known: Partial<Known> = {},
  options: { tokenJson?: boolean } = {},
): Promise<Finding[]> {
  let time = Date.now()
  const clock = {
    now: () => time,
    sleep: async (ms: number) => {
      time += ms
    },
  }
  const client = new SupplierClient({
    ...options,
    baseUrl: 'http://model',
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    clock,
    fetch: modelFetch(change, clock.now),
  })
  return Array.fromAsync(checkSupplier({ client, known: { ...KNOWN, ...known } }))
}

/** The rules with this outcome, by their ids. */
export const idsOf = (findings: readonly Finding[], outcome: Finding['outcome']) =>
  findings.filter((finding) => finding.outcome === outcome).map(({ id }) => id)
