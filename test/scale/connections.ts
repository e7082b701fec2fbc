/** `npm run scale`: measures 10,000 and then 1,000,000 connections on Redis. Needs redis-server, 8 minutes and 4 GB. */
import { randomBytes } from 'node:crypto'
import { createClient } from 'redis'
import { connectionKind, platform, reencrypt, Vault } from '../../src/connect/index.ts'
import { allOwners, type KeyValueStore, openRedis } from '../../src/connect/stores.ts'
import { compare } from '../bench/measure.ts'
import { startServer } from '../bench/platform.ts'
import { ready, startRedis } from '../support/redis.ts'
import { consent, newKey, oauthFor } from '../support/vault.ts'

const SIZES = [10_000, 1_000_000] as const
/** How many connections the readers use, and how many one user has. */
const [HOT, OF_ONE_USER] = [1_000, 50]
/** How many idle connections are refreshed to measure what one costs. */
const REFRESHED = 5_000
const EVERY_MS = 6 * 3_600_000
const OLD = newKey('old')
const NEW = newKey('new')
const HEAVY_USER = 'https://login.example#heavy-user'
const WRITERS = 250

interface Figures {
  bytesPerConnection: number
  /** Warm reads per second, as a ratio to a Redis with the hot connections only. */
  reads: number
  /** The same for the list of a user with 50 connections. */
  lists: number
  /** Per 1,000 connections, in ms of CPU time of this process. */
  sweepCpuMs: number
  refreshCpuMs: number
  sweepMemoryMb: number
  /** Per 1,000 connections, in ms. */
  reencryptMs: number
}

const refOf = (index: number) => ({
  userId: index < OF_ONE_USER ? HEAVY_USER : `https://login.example#user-${index}`,
  bxcontext: `business-${index}`,
})

/** Connects these accounts, with tokens as long as usual ones. */
async function connectAll(vault: Vault, indexes: Iterator<number>): Promise<void> {
  const connecting = async () => {
    for (let next = indexes.next(); !next.done; next = indexes.next()) {
      const accessToken = randomBytes(600).toString('base64url')
      const refreshToken = randomBytes(48).toString('base64url')
      await consent(vault, { accessToken, refreshToken, expiresIn: 3600 }, refOf(next.value))
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, connecting))
}

function* range(from: number, to: number): Generator<number, undefined> {
  for (let index = from; index < to; index++) yield index
}

async function openVault(size: number, authUrl: string) {
  const redis = await startRedis('--appendonly', 'no', '--save', '')
  const store = await ready(await openRedis({ urls: [redis.url] }))
  const admin = await createClient({ url: redis.url }).connect()
  const memory = async () => Number(/used_memory:(\d+)/.exec(await admin.info('memory'))?.[1])
  const before = await memory()
  const settings = { platform, store, oauth: oauthFor(authUrl) }
  const vault = new Vault({ ...settings, keys: [OLD] })
  await connectAll(vault, range(0, size))
  const bytes = ((await memory()) - before) / size
  return {
    store,
    settings,
    vault,
    bytes,
    close: async () => {
      admin.destroy()
      await vault.close(0)
      await store.close()
      await redis.close()
    },
  }
}

let turn = 0
const hotRef = () => refOf(OF_ONE_USER + (turn++ % HOT))

/** Reads all connections, as a round of checks does. Resolves to its CPU time and memory. */
async function walk({ store, vault }: { store: KeyValueStore; vault: Vault }) {
  const [cpu, memory] = [process.cpuUsage(), process.memoryUsage.rss()]
  let peak = memory
  const inProgress = new Set<Promise<unknown>>()
  for await (const userId of allOwners(store, connectionKind(platform.name))) {
    const check: Promise<unknown> = vault.list(userId).finally(() => inProgress.delete(check))
    inProgress.add(check)
    if (inProgress.size >= 64) await Promise.race(inProgress)
    peak = Math.max(peak, process.memoryUsage.rss())
  }
  await Promise.all(inProgress)
  const { user, system } = process.cpuUsage(cpu)
  return { cpuMs: (user + system) / 1000, memoryMb: (peak - memory) / 1e6 }
}

async function measure(size: number, authUrl: string): Promise<Figures> {
  const [full, small] = [await openVault(size, authUrl), await openVault(OF_ONE_USER + HOT, authUrl)]
  const [read, list] = [
    ({ vault }: typeof full) => ({ call: () => vault.accessToken(hotRef()) }),
    ({ vault }: typeof full) => ({ call: () => vault.list(HEAVY_USER) }),
  ]
  const reads = await compare(64, read(full), read(small))
  const lists = await compare(4, list(full), list(small))

  // No connection is idle, so the round only reads them.
  const walked = await walk(full)
  const past = () => Date.now() - 30 * 86_400_000
  const idle = [size - REFRESHED, size] as const
  await connectAll(new Vault({ ...full.settings, keys: [OLD], now: past }), range(...idle))
  const cpu = process.cpuUsage()
  const users = range(...idle)
  const refresher = async () => {
    for (let user = users.next(); !user.done; user = users.next())
      await full.vault.refresh(refOf(user.value), { manual: false })
  }
  await Promise.all(Array.from({ length: 32 }, refresher))
  const { user, system } = process.cpuUsage(cpu)

  const startedAt = performance.now()
  let reencrypted = 0
  for await (const outcome of reencrypt(full.settings.store, [NEW, OLD]))
    if (outcome === 'reencrypted') reencrypted++
  if (reencrypted < size) throw new Error(`only ${reencrypted} records were re-encrypted`)
  const reencryptMs = (1000 * (performance.now() - startedAt)) / size
  const figures: Figures = {
    bytesPerConnection: full.bytes,
    reads: reads.ratio,
    lists: lists.ratio,
    sweepCpuMs: (1000 * walked.cpuMs) / size,
    refreshCpuMs: (user + system) / REFRESHED,
    sweepMemoryMb: walked.memoryMb,
    reencryptMs,
  }
  await Promise.all([full.close(), small.close()])
  return figures
}

const tokens = await startServer('test/bench/platform-server.ts')
const [few, many] = [await measure(SIZES[0], tokens.url), await measure(SIZES[1], tokens.url)]
await tokens.stop()
console.log(
  `| connections on Redis | 10,000 | 1,000,000 | growth | target |\n| --- | --- | --- | --- | --- |`,
)
const ROWS: [name: string, figure: keyof Figures, digits: number, unit: string, target: string][] = [
  ['memory of Redis per connection', 'bytesPerConnection', 0, 'bytes', '1'],
  ['warm token reads, 64 callers / on a nearly empty Redis', 'reads', 2, '', '>= 0.95'],
  ['list of a user with 50 connections / on a nearly empty Redis', 'lists', 2, '', '>= 0.95'],
  ['CPU to look at 1,000 connections', 'sweepCpuMs', 1, 'ms', '1'],
  ['CPU to refresh 1,000 idle connections', 'refreshCpuMs', 0, 'ms', '1'],
  ['memory that a round takes', 'sweepMemoryMb', 0, 'MB', 'constant'],
  ['re-encryption of 1,000 records', 'reencryptMs', 1, 'ms', '1'],
]
for (const [name, figure, digits, unit, target] of ROWS) {
  const [a, b] = [few[figure], many[figure]]
  const shown = [a, b].map((value) => `${value.toFixed(digits)} ${unit}`)
  console.log(`| ${[name, ...shown, (b / a).toFixed(2), target].join(' | ')} |`)
}
const seconds = (perThousandMs: number) => (perThousandMs * SIZES[1]) / 1_000_000
const share = (cpuMs: number) => ((100_000 * seconds(cpuMs)) / EVERY_MS).toFixed(2)
console.log(
  `\nA round over 1,000,000 connections every 6 hours takes ${share(many.sweepCpuMs)} % of a core if none is idle, and ${share(many.sweepCpuMs + many.refreshCpuMs)} % if all of them are. Re-encryption takes ${Math.round(seconds(many.reencryptMs))} s.\n`,
)
process.exit(0)
