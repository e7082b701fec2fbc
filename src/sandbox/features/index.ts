import type { SandboxFeature } from '../feature.ts'
import { builderRequests } from './builder-requests/index.ts'
import { catalogues } from './catalogues/index.ts'
import { firstParty } from './first-party/index.ts'
import { flowInspector } from './flow-inspector/index.ts'
import { leads } from './leads/index.ts'
import { livePricing } from './live-pricing/index.ts'
import { priceFiles } from './price-files/index.ts'
import { scenarios } from './scenarios/index.ts'

/** In the order of their routes: a fixed path comes before a pattern that also matches it. */
export const FEATURES: readonly SandboxFeature[] = [
  firstParty,
  leads,
  builderRequests,
  catalogues,
  priceFiles,
  livePricing,
  flowInspector,
  scenarios,
]
