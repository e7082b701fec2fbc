/** The row of the table that is about leads. */
import { createApi } from '../../../../src/connect/platform/api.ts'
import { createHttp } from '../../../../src/connect/platform/http.ts'
import { createLeads } from '../../../../src/features/leads/leads.ts'
import { type Add, compare } from '../../../bench/measure.ts'
import { BARE_SOURCE, bareList, startServer } from '../../../bench/platform.ts'

export async function bench(add: Add): Promise<void> {
  const { url, stop } = await startServer('test/bench/platform-server.ts')
  const http = createHttp()
  const leads = createLeads(createApi({ baseUrl: url, http }))
  const bare = bareList(`${url}/leads`)
  const measured = await compare(32, () => leads.list(BARE_SOURCE), bare.list)
  add('`leads.list`, 32 callers', 'bare undici request and JSON.parse', measured, '>= 0.8')
  await Promise.all([http.close(), bare.close(), stop()])
}
