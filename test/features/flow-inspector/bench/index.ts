/** The row about the flow inspector in the table of `npm run bench`: what it costs a whole JSON route. */
import { Agent, request } from 'undici'
import { openRedis } from '../../../../src/connect/stores.ts'
import { type Add, compare, type Measured, medianOf } from '../../../bench/measure.ts'
import { startServer } from '../../../bench/platform.ts'
import { tempDir, testEnv } from '../../../support/env.ts'
import { freePort } from '../../../support/ports.ts'
import { answering, run } from '../../../support/process.ts'
import { ready, startRedis } from '../../../support/redis.ts'
import { consent, REF, vaultSetup } from '../../../support/vault.ts'
import { createVisitor } from '../../../support/visitor.ts'

const CALLERS = 32
const PROCESSES = 5
const ROUNDS = 4
const ROUTE = '`GET /connections/:bxcontext/probe`, whole app, Redis, 32 callers'

export async function bench(add: Add): Promise<void> {
  const redis = await startRedis()
  const { dir, remove } = tempDir()
  const platform = await startServer('test/bench/platform-server.ts')
  const addresses = {
    PLATFORM_APP_URL: platform.url,
    PLATFORM_AUTH_URL: platform.url,
    PLATFORM_API_URL: platform.url,
  }
  const env = testEnv({ ...addresses, DATA_DIR: dir, REDIS_URL: redis.url })
  const store = await ready(await openRedis({ urls: [redis.url] }))
  const [id = '', secret = ''] = (env.TOKEN_ENCRYPTION_KEYS ?? '').split(':')
  const setup = await vaultSetup({ store, keys: [{ id, secret: Buffer.from(secret, 'base64') }] })
  await consent(setup.vault, { expiresIn: 3600 })
  const dispatcher = new Agent({ connections: 64 })

  async function start(extra: Record<string, string>) {
    const url = `http://localhost:${await freePort()}`
    const program = run('test/bench/probe-app.ts', { ...env, ...extra, PORT: new URL(url).port })
    await answering(`${url}/health/live`, program)
    const visitor = createVisitor()
    await visitor.post(`${url}/sign-in`, { form: { name: REF.userId } })
    const cookies = [...(visitor.cookies.get(new URL(url).host) ?? [])].map((pair) => pair.join('='))
    const headers = { cookie: cookies.join('; '), accept: 'application/json' }
    const address = `${url}/connections/${REF.bxcontext}/probe`
    const call = async () => {
      const { statusCode, body } = await request(address, { dispatcher, headers })
      const text = await body.text()
      if (statusCode !== 200) throw new Error(`${address}: ${statusCode} ${text}`)
    }
    return { call, pid: program.child.pid, kill: program.kill }
  }

  const rows: Measured[] = []
  // Two processes of the same program may differ by a tenth, so each row is the median of several.
  for (let round = 0; round < PROCESSES; round++) {
    const off = await start({ FLOW_INSPECTOR: 'false' })
    const on = await start({ FLOW_INSPECTOR: 'true' })
    // Both run hot first, as a process is slower in its first seconds.
    for (const work of [off, on]) await compare(CALLERS, work, work, 2)
    rows.push(await compare(CALLERS, on, off, ROUNDS))
    await Promise.all([off.kill(), on.kill()])
  }
  add(`${ROUTE}, inspector on`, 'the same with the inspector off', medianOf(rows), '>= 0.8')
  await Promise.all([platform.stop(), dispatcher.destroy(), setup.close()])
  await redis.close()
  remove()
}
