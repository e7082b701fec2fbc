import { createClient } from 'redis'
import { withTimeout } from '../timeouts.ts'
import { urlOptions } from './redis-url.ts'

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
  const url = new URL(text.replace('+sentinel', ''))
  const { protocol, host } = url
  const name = url.pathname.slice(1)
  url.pathname = ''
  // A Sentinel without users of its own refuses the user of the data servers.
  const answer = await masterFrom(`${protocol}//${host}`, name).catch((error: Error) => {
    if (/unknown command/i.test(error.message))
      throw new Error(`${host} is not a Sentinel: write ${protocol}//${host} in REDIS_URL`)
    if (/NOAUTH|NOPERM/.test(error.message)) return masterFrom(url.href, name)
    throw error
  })
  const [masterHost = '', port] = answer ?? []
  if (!port)
    throw new Error(
      `the Sentinel ${host} knows no master with the name ${name}: write redis+sentinel://HOST:PORT/NAME in REDIS_URL`,
    )
  url.host = masterHost.includes(':') ? `[${masterHost}]` : masterHost
  url.port = port
  return url.href
}

async function masterFrom(url: string, name: string): Promise<string[] | null> {
  const limits = { socketTimeout: ANSWER_MS, connectTimeout: ANSWER_MS, reconnectStrategy: false as const }
  const sentinel = createClient({ ...urlOptions(url), socket: limits }).on('error', () => {})
  try {
    await sentinel.connect()
    return await sentinel.sendCommand<string[] | null>(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name])
  } finally {
    sentinel.destroy()
  }
}
