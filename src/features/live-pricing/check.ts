import { type CheckContext, type Finding, field } from '../../web/kit.ts'
import type { LivePricingSettings } from './settings.ts'

/** Warns of the sandbox's clients, as whom anybody could ask for prices. */
export default async function checkClients(
  { isSandbox }: CheckContext,
  { clients }: LivePricingSettings,
): Promise<Finding[]> {
  const secrets = [...clients.production, ...clients.staging].flatMap((client) => client.secrets)
  if (isSandbox || !secrets.some(field.isSandboxSecret)) return []
  const setting = 'LIVE_PRICING_CLIENTS'
  const text = `${setting}: its clients are still the sandbox's, which everybody knows. Enter yours, or remove it`
  return [{ id: 'live-pricing.sandbox-clients', status: 'warning', setting, text }]
}
