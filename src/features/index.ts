import { platform } from '../connect/index.ts'
import type { SettingsGroup } from '../settings/read.ts'
import { builderRequests } from './builder-requests/index.ts'
import { catalogues } from './catalogues/index.ts'
import { connectionChecks } from './connection-checks/index.ts'
import { doctor } from './doctor/index.ts'
import type { Feature } from './feature.ts'
import { firstParty } from './first-party/index.ts'
import { flowInspector } from './flow-inspector/index.ts'
import { leads } from './leads/index.ts'
import { livePricing } from './live-pricing/index.ts'
import { metrics } from './metrics/index.ts'
import { priceFiles } from './price-files/index.ts'
import { probe } from './probe/index.ts'
import { scenarios } from './scenarios/index.ts'
import { setup } from './setup/index.ts'
import { stepByStep } from './step-by-step/index.ts'
import { supplierCheck } from './supplier-check/index.ts'

/** All features, in the order of their links on a connection's card. */
export const features: readonly Feature[] = [
  leads,
  catalogues,
  builderRequests,
  priceFiles,
  firstParty,
  livePricing,
  supplierCheck,
  flowInspector,
  stepByStep,
  scenarios,
  setup,
  doctor,
  probe,
  connectionChecks,
  metrics,
]

/** What the features add to the config: their settings, and the scopes that they need. */
export function featureOptions(of = features): {
  features: Record<string, SettingsGroup<unknown>>
  scopes: string[]
} {
  const groups: Record<string, SettingsGroup<unknown>> = {}
  for (const { name, settings } of of) if (settings) groups[name] = settings
  const needed = new Set(of.flatMap(({ scopes = {} }) => Object.keys(scopes)))
  // An app whose features need none asks for those that the platform documents: it can connect nevertheless.
  return { features: groups, scopes: needed.size > 0 ? [...needed].sort() : [...platform.scopes] }
}
