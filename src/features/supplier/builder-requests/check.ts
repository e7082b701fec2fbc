import { type CheckContext, type Finding, field } from '../../../web/feature-api.ts'
import type { BuilderRequestsSettings } from './settings.ts'

/** Warns if the secret is the sandbox's, because anyone could sign a webhook with it. */
export default async function checkWebhook(
  { isSandbox }: CheckContext,
  { webhookSecrets }: BuilderRequestsSettings,
): Promise<Finding[]> {
  if (isSandbox || !webhookSecrets.some(field.isSandboxSecret)) return []
  const setting = 'PLATFORM_WEBHOOK_SECRET'
  const text = `${setting}: it is still the sandbox's, which everybody knows. Enter yours, or remove it`
  return [{ id: 'webhook.sandbox-secret', status: 'warning', setting, text }]
}
