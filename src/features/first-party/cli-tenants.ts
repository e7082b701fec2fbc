/** `npm run tenants`: the tenants that the API key may act for (specification 5.2.7). */
import '../../runtime/env-file.ts'
import { createCommand } from '../../runtime/command.ts'
import { fail } from '../../runtime/serve.ts'
import { openByApiKey } from './by-api-key.ts'
import { explain } from './explain.ts'
import { listTenants } from './first-party.ts'

createCommand('tenants', 'Lists the tenants that the API key may act for.').parse()

try {
  // Without a tenant: a tenant's token lists that tenant alone.
  const { api, source, close } = await openByApiKey(process.env, '')
  const tenants = await listTenants(api, source).finally(close)
  for (const { tenantId, name } of tenants) console.log(name ? `${tenantId}  ${name}` : tenantId)
  if (tenants.length === 0) console.error('The platform lists no tenant for this API key.')
} catch (error) {
  fail(explain(error))
}
