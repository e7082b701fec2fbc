import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Client } from './clients.ts'
import { openPriceLists, type PriceLists } from './csv-price-provider/price-lists.ts'
import type { LivePricingSettings } from './settings.ts'

/** One `{supplier_base_url}`: staging and production have their own clients and their own prices. */
export interface LivePricingBase {
  path: string
  baseUrl: string
  clients: readonly Client[]
  priceLists: PriceLists
}

/** Folders in `DATA_DIR` where `load-prices` puts price lists, and the app looks for them. */
export const PRICE_LISTS = { production: 'price-lists', staging: 'price-lists-staging' } as const
const PATHS = { production: '/live-pricing', staging: '/live-pricing-staging' } as const

export interface BasesOptions {
  baseUrl: string
  dataDir: string
  settings: LivePricingSettings
  log: Logger
}

/** The bases that have clients. Replace `openPriceLists` to put your own `PriceProvider` behind them. */
export function openBases({ baseUrl, dataDir, settings, log }: BasesOptions): LivePricingBase[] {
  const environments = ['production', 'staging'] as const
  return environments
    .filter((environment) => settings.clients[environment].length > 0)
    .map((environment) => {
      const path = PATHS[environment]
      const folder = join(dataDir, PRICE_LISTS[environment])
      const priceLists = openPriceLists(folder, log)
      if (!priceLists.loaded())
        log.warn({ folder }, `${path} has no price list yet: npm run load-prices -- FOLDER makes one`)
      return { path, baseUrl: baseUrl + path, clients: settings.clients[environment], priceLists }
    })
}
