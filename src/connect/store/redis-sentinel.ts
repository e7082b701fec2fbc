import { setTimeout as pause } from 'node:timers/promises'
import { type News, withTimeout } from '../timeouts.ts'
import { createClient } from './redis-scripts.ts'
import { clientOptions, SILENCE_MS, WATCH_MS } from './redis-url.ts'

/**
 * Tracks the master (https://redis.io/docs/latest/develop/reference/sentinel-clients). The connections to all Sentinels stay open.
 * The answer with the highest epoch counts, because a Sentinel that is frozen or was cut off names an old master.
 */
export class Sentinels {
  /** The url of the master; undefined while no Sentinel answers. */
  master: string | undefined
  #isFailingOver = false
  readonly #news: News
  /** The latest answer of each Sentinel; undefined until it has answered or failed. */
  readonly #answers: (Answer | Error | undefined)[]

  /** Reports another master to `news`. Asks the Sentinels regularly, and immediately if there is news, until `news` ends. */
  constructor(urls: readonly string[], news: News) {
    this.#news = news
    this.#answers = urls.map(() => undefined)
    urls.forEach((url, index) => void this.#follow(index, new URL(url.replace('+sentinel', ''))))
  }

  /** Resolves to the url of the master once each Sentinel has answered or failed. Rejects if all of them fail. */
  async find(): Promise<string> {
    while (this.#answers.includes(undefined)) await pause(10, undefined, { ref: false })
    return this.master ?? Promise.reject(this.#answers[0])
  }

  /** Whether the server at `url` is no longer the master or is about to be replaced, so that a write to it may be lost. */
  isReplacing(url: string | undefined): boolean {
    return this.master !== undefined && (this.master !== url || this.#isFailingOver)
  }

  /** Keeps asking a Sentinel, first without a login, because a Sentinel without users refuses the login of the data servers. */
  async #follow(index: number, url: URL): Promise<void> {
    let client: Client | undefined
    for (let withLogin = false; !this.#news.isOver; ) {
      const wait = this.#news.listen()
      try {
        client ??= createSentinelClient(url, withLogin)
        this.#conclude(index, await withTimeout(ask(client, url, this.#news), SILENCE_MS))
      } catch (error) {
        client?.destroy()
        client = undefined
        withLogin = !withLogin && /NOAUTH|NOPERM/.test(String(error))
        if (withLogin) continue
        this.#conclude(index, explained(error, url))
      }
      await wait(WATCH_MS)
    }
    client?.destroy()
  }

  #conclude(index: number, answer: Answer | Error): void {
    this.#answers[index] = answer
    const known = this.#answers.flatMap((each) => (each && 'url' in each ? each : []))
    const master = known.toSorted((a, b) => b.epoch - a.epoch)[0]?.url
    this.#isFailingOver = known.some(({ isFailingOver, url }) => isFailingOver && url === master)
    if (master !== this.master) this.#news.tell()
    this.master = master
  }
}

type Client = ReturnType<typeof createSentinelClient>
type Answer = Awaited<ReturnType<typeof ask>>

/** Resolves to a Sentinel's answer. The url of the master gets the scheme, user and password of the Sentinel's url. */
async function ask(client: Client, sentinel: URL, news: News) {
  if (!client.isOpen) {
    await client.connect()
    await client.subscribe(['+try-failover', '+switch-master'], () => news.tell())
  }
  const name = sentinel.pathname.slice(1)
  // During a failover, GET-MASTER-ADDR-BY-NAME names the new master before MASTER does. So ask for the epoch first, or the former
  // master's address could come with the epoch of the new master.
  const [{ 'config-epoch': epoch, flags = '', ...former }, [host, port]] = await Promise.all([
    client.sendCommand<Record<string, string>>(['SENTINEL', 'MASTER', name]),
    client.sendCommand<[string, string]>(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]),
  ])
  const url = new URL(sentinel)
  Object.assign(url, { pathname: '', host: host.includes(':') ? `[${host}]` : host, port })
  const isFailingOver = /failover_in/.test(flags) && former.ip === host && former.port === port
  return { epoch: Number(epoch), url: url.href, isFailingOver }
}

function createSentinelClient({ protocol, username, password, host }: URL, withLogin: boolean) {
  const url = `${protocol}//${withLogin ? `${username}:${password}@` : ''}${host}`
  // Ignore the error here, because it also rejects the command.
  return createClient(clientOptions(url)).on('error', () => {})
}

/** Returns the error. If it shows that `REDIS_URL` is wrong, the message contains the correct form. */
function explained(error: unknown, { protocol, host, pathname }: URL): Error {
  const message = String(error)
  if (/unknown command/i.test(message))
    return new Error(`${host} is not a Sentinel: write ${protocol}//${host} in REDIS_URL`)
  if (!/No such master/i.test(message)) return error instanceof Error ? error : new Error(message)
  const cure = 'write redis+sentinel://HOST:PORT/NAME in REDIS_URL'
  return new Error(`the Sentinel ${host} knows no master with the name ${pathname.slice(1)}: ${cure}`)
}
