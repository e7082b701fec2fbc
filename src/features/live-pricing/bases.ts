import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Client } from './clients.ts'
import { openPriceLists } from './csv-price-provider/price-lists.ts'
import type { PriceProvider } from './price-provider.ts'
import type { LivePricingSettings } from './settings.ts'

/** A `{supplier_base_url}`. Production and staging each have their own clients and prices. */
export interface LivePricingBase {
  path: string
  baseUrl: string
  clients: readonly Client[]
  provider: PriceProvider
}

/** Folders in `DATA_DIR` to which `load-prices` writes price lists and from which the app reads them. */
export const PRICE_LIST_FOLDERS = { production: 'price-lists', staging: 'price-lists-staging' } as const
const PATHS = { production: '/live-pricing', staging: '/live-pricing-staging' } as const

export interface BasesOptions {
  baseUrl: string
  dataDir: string
  settings: LivePricingSettings
  log: Logger
}

/** Opens the bases that have clients. To use your own `PriceProvider`, replace `openPriceLists`. */
export function openBases({ baseUrl, dataDir, settings, log }: BasesOptions): LivePricingBase[] {
  const environments = ['production', 'staging'] as const
  return environments
    .filter((environment) => settings.clients[environment].length > 0)
    .map((environment) => {
      const path = PATHS[environment]
      const folder = join(dataDir, PRICE_LIST_FOLDERS[environment])
      const provider: PriceProvider = openPriceLists(folder, log)
      if (provider.loaded?.() === false)
        log.warn(
          { folder },
          `${path} has no price list yet: run npm run feature -- live-pricing load-prices FOLDER`,
        )
      return { path, baseUrl: baseUrl + path, clients: settings.clients[environment], provider }
    })
}
