import { withTimeout } from '../timeouts.ts'
import { connected, createSingleClient, OPEN_TIMEOUT_MS } from './node-redis.ts'
import { urlHost } from './redis-url.ts'

/**
 * Asks all Sentinels at once, and resolves to the address of the master that is named most often: one that is frozen or was cut
 * off names an old one (https://redis.io/docs/latest/develop/reference/sentinel-clients).
 *
 * node-redis has a client for Sentinels. It sends a command again that the old master did not answer, although it may have
 * been carried out, which breaks compare-and-set; and it never recovers if its Sentinel is frozen together with the master.
 */
export async function findMaster(urls: readonly string[]): Promise<string> {
  const results = await Promise.allSettled(urls.map(askSentinel))
  const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const votes = Map.groupBy(addresses, (address) => address)
  const [most] = [...votes.values()].sort((a, b) => b.length - a.length)
  if (!most?.[0]) throw results.find((result) => result.status === 'rejected')?.reason
  return most[0]
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
  const sentinel = createSingleClient(url)
  sentinel.on('error', () => {})
  await connected(sentinel)
  try {
    const asked = sentinel.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name])
    return (await withTimeout<unknown>(asked, OPEN_TIMEOUT_MS)) as string[] | null
  } catch (error) {
    if (!/unknown command/i.test((error as Error).message)) throw error
    const { protocol, host } = new URL(url)
    throw new Error(`${host} is not a Sentinel: write ${protocol}//${host} in REDIS_URL`)
  } finally {
    sentinel.destroy()
  }
}
