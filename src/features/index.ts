import { builderRequests } from './builder-requests/index.ts'
import { catalogues } from './catalogues/index.ts'
import { connectionChecks } from './connection-checks/index.ts'
import { connectionWebhooks } from './connection-webhooks/index.ts'
import type { Feature } from './feature.ts'
import { firstParty } from './first-party/index.ts'
import { flowInspector } from './flow-inspector/index.ts'
import { leads } from './leads/index.ts'
import { livePricing } from './live-pricing/index.ts'
import { metrics } from './metrics/index.ts'
import { priceFiles } from './price-files/index.ts'
import { setup } from './setup/index.ts'
import { tracing } from './tracing/index.ts'

/** All features, in the order of their links on a connection's card. */
export const features: readonly Feature[] = [
  leads,
  catalogues,
  builderRequests,
  priceFiles,
  firstParty,
  livePricing,
  flowInspector,
  setup,
  connectionChecks,
  connectionWebhooks,
  metrics,
  tracing,
]
