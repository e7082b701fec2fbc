/** `npm run feature -- first-party tenants`: lists the tenants that the API key may act for (specification 5.2.7). */
import '../../../runtime/env-file.ts'
import { createCommand } from '../../../runtime/command.ts'
import { print, printError } from '../../../runtime/print.ts'
import { fail } from '../../../runtime/serve.ts'
import { openByApiKey } from './by-api-key.cli.ts'
import { describeError } from './describe-error.ts'
import { listTenants } from './first-party.ts'

async function list({ demo }: { demo: boolean }): Promise<void> {
  // Logs in without a tenant, because a token for a tenant lists only that tenant.
  const { api, source, close } = await openByApiKey(process.env, { tenant: '', demo })
  const tenants = await listTenants(api, source).finally(close)
  for (const { tenantId, name } of tenants) print(name ? `${tenantId}  ${name}` : tenantId)
  if (tenants.length === 0) printError('This API key has no tenants.')
}

await createCommand(
  'npm run feature -- first-party tenants',
  'Lists the tenants that the API key may act for.',
)
  .option('--demo', 'use the running demo, without an .env', false)
  .action((options) => list(options).catch((error) => fail(describeError(error))))
  .parseAsync()
