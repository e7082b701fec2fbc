import { join } from 'node:path'
import { Agent, request } from 'undici'
import { openRedis, openSqlite } from '../../src/connect/stores.ts'
import { tempDir, testEnv } from '../support/env.ts'
import { freePort } from '../support/ports.ts'
import { answering, runProgram } from '../support/process.ts'
import { ready } from '../support/redis.ts'
import { consent, REF, vaultSetup } from '../support/vault.ts'
import { createVisitor } from '../support/visitor.ts'

/** The whole app, on Redis or the embedded store (null), in a process of its own, with the connection `REF`, which expires after `expiresIn` seconds. */
export async function startBenchApp(
  script: string,
  redisUrl: string | null,
  platform: { apiUrl: string; authUrl?: string },
  expiresIn = 3600,
) {
  const { dir, remove } = tempDir()
  const { apiUrl, authUrl = apiUrl } = platform
  const env = testEnv({
    PLATFORM_APP_URL: apiUrl,
    PLATFORM_AUTH_URL: authUrl,
    PLATFORM_API_URL: apiUrl,
    PORT: String(await freePort()),
    DATA_DIR: dir,
    ...(redisUrl !== null && { REDIS_URL: redisUrl }),
    LOG_LEVEL: 'info',
    // As in production.
    FLOW_INSPECTOR: 'false',
  })
  const url = `http://localhost:${env.PORT}`
  // The log is written, but this process doesn't read it, because that would distort the measurement.
  const program = runProgram(script, env, { stdout: '/dev/null' })
  await answering(`${url}/health/live`, program)
  const store =
    redisUrl === null
      ? openSqlite({ file: join(dir, 'store.sqlite') })
      : await ready(await openRedis({ urls: [redisUrl] }))
  const [id = '', secret = ''] = (env.TOKEN_ENCRYPTION_KEYS ?? '').split(':')
  const setup = await vaultSetup({ store, keys: [{ id, secret: Buffer.from(secret, 'base64') }] })
  await consent(setup.vault, { expiresIn })
  return {
    url,
    pid: program.child.pid,
    vault: setup.vault,
    // A process that is stopped, not killed, writes the compile cache for the next start.
    close: async () => {
      await Promise.all([program.kill('SIGTERM'), setup.close()])
      remove()
    },
  }
}

const dispatcher = new Agent({ connections: 128 })

/** Signs in; resolves to a function that makes one call of a path and throws unless it is answered with 200. */
export async function signedInCaller(
  origin: string,
  path: string,
  signInPath = '/sign-in',
): Promise<() => Promise<void>> {
  const visitor = createVisitor()
  const { status, text } = await visitor.post(origin + signInPath, { form: { name: REF.userId } })
  if (status >= 400) throw new Error(`${signInPath}: ${status} ${text}`)
  const cookies = [...(visitor.cookies.get(new URL(origin).host) ?? [])]
  const cookie = cookies.map((pair) => pair.join('=')).join('; ')
  const headers = { cookie, accept: 'application/json' }
  return async () => {
    const { statusCode, body } = await request(origin + path, { dispatcher, headers })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${text}`)
  }
}
