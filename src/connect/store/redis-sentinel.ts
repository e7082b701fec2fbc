import { createClient } from 'redis'
import { withTimeout } from '../timeouts.ts'
import { parseRedisUrl, urlHost } from './redis-url.ts'

/** How long a Sentinel may take to connect and to answer, in ms. */
const ANSWER_MS = 1_000

/**
 * Asks all Sentinels at once, and resolves to the address of the master that most of them name, or that is named most often if
 * some do not answer: one that is frozen or was cut off names an old one
 * (https://redis.io/docs/latest/develop/reference/sentinel-clients).
 */
export async function findMaster(urls: readonly string[]): Promise<string> {
  const votes: string[] = []
  const majority = Promise.withResolvers<void>()
  const countOf = (address: string) => votes.filter((vote) => vote === address).length
  const ask = async (url: string) => {
    const address = await withTimeout(askSentinel(url), ANSWER_MS)
    votes.push(address)
    if (countOf(address) > urls.length / 2) majority.resolve()
  }
  const results = Promise.allSettled(urls.map(ask))
  await Promise.race([majority.promise, results])
  const [most] = votes.toSorted((a, b) => countOf(b) - countOf(a))
  if (most === undefined) throw (await results).find((result) => result.status === 'rejected')?.reason
  return most
}

/** The address of the master that this Sentinel names, with the scheme, the user and the password of the url. */
async function askSentinel(text: string): Promise<string> {
  const url = new URL(text)
  const { host, username, password, pathname } = url
  const scheme = url.protocol.replace('+sentinel', '')
  const name = pathname.slice(1)
  const credentials = username || password ? `${username}:${password}@` : ''
  // A Sentinel without users of its own refuses the user of the data servers.
  const answer = await masterFrom(`${scheme}//${host}`, name).catch((error: Error) => {
    if (!/NOAUTH|NOPERM/.test(error.message)) throw error
    return masterFrom(`${scheme}//${credentials}${host}`, name)
  })
  if (!answer)
    throw new Error(
      `the Sentinel ${host} knows no master with the name ${name}: write ${url.protocol}//HOST:PORT/NAME in REDIS_URL`,
    )
  const [masterHost = '', port] = answer
  return `${scheme}//${credentials}${urlHost(masterHost)}:${port}`
}

async function masterFrom(url: string, name: string): Promise<string[] | null> {
  const { socket, ...login } = parseRedisUrl(url)
  const options = { socketTimeout: ANSWER_MS, connectTimeout: ANSWER_MS, reconnectStrategy: false as const }
  const sentinel = createClient({ ...login, socket: { ...socket, ...options } })
  sentinel.on('error', () => {})
  try {
    await sentinel.connect()
    return await sentinel.sendCommand<string[] | null>(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name])
  } catch (error) {
    if (!/unknown command/i.test((error as Error).message)) throw error
    const { protocol, host } = new URL(url)
    throw new Error(`${host} is not a Sentinel: write ${protocol}//${host} in REDIS_URL`)
  } finally {
    sentinel.destroy()
  }
}
