import { pino } from 'pino'
import { InvalidGrantError, PlatformUnavailableError } from '../../src/connect/errors.ts'
import { platform, Vault, type VaultOptions } from '../../src/connect/index.ts'
import { openSqlite } from '../../src/connect/stores.ts'
import { consent, newKey } from '../support/vault.ts'

const [USERS, PROCESSES] = [10_000, 2]
const STEP_MS = 10_000
const HOUR_MS = 3_600_000
/** How long access tokens live: some platforms issue short ones. */
const LIFETIMES_MS = [300_000, HOUR_MS]
/** How often a user is active in a day, how long, and how many calls are made in a minute then. */
const [SESSIONS, SESSION_MS, CALLS_PER_MINUTE] = [6, 10 * 60_000, 1]
/** Outages of the token endpoint: when, in hours, and how long, in minutes. */
const OUTAGES = [
  [3, 2],
  [9.5, 20],
  [15, 1],
  [20, 45],
] as const
/** The share of the users who withdraw their consent in the day. */
const REVOKED = 0.02

interface Grant {
  /** The latest access token and when it expires. */
  access: string
  expiresAt: number
  revokedAt: number
  lifetimeMs: number
}

/** A day of 10,000 users in minutes: two vaults, one store, a simulated clock and a simulated platform. */
export async function day(): Promise<void> {
  const startedAt = performance.now()
  const start = Date.UTC(2027, 0, 1)
  let time = start
  const now = () => time
  const grants = new Map<string, Grant>()
  const counts = {
    calls: 0,
    refreshes: 0,
    needed: 0,
    noticed: 0,
    duringOutages: 0,
    failedCalls: 0,
    wrongTokens: 0,
  }
  const isOut = () =>
    OUTAGES.some(
      ([hour, minutes]) => time >= start + hour * HOUR_MS && time < start + hour * HOUR_MS + minutes * 60_000,
    )
  let issued = 0
  const issue = (grant: Grant) => {
    grant.access = `access-${++issued}`
    grant.expiresAt = time + grant.lifetimeMs
    return {
      accessToken: grant.access,
      expiresIn: grant.lifetimeMs / 1000,
      refreshToken: undefined,
      scopes: undefined,
    }
  }
  const oauth: VaultOptions['oauth'] = {
    scopes: [],
    async refresh({ refreshToken }) {
      const grant = grants.get(refreshToken) as Grant
      if (isOut()) {
        counts.duringOutages++
        throw new PlatformUnavailableError('error', 'an outage')
      }
      if (grant.revokedAt <= time) {
        counts.noticed++
        throw new InvalidGrantError()
      }
      counts.refreshes++
      return issue(grant)
    },
  }
  const store = openSqlite({ file: ':memory:', now })
  const keys = [newKey()]
  const log = pino({ level: 'silent' })
  const openVault = () => new Vault({ platform, store, keys, oauth, log, now })
  const first = openVault()
  const vaults = [first, ...Array.from({ length: PROCESSES - 1 }, openVault)]
  const refOf = (user: number) => ({ userId: `user-${user}`, bxcontext: 'ctx' })
  const activeFrom: number[][] = []
  for (let user = 0; user < USERS; user++) {
    const grant: Grant = {
      access: '',
      expiresAt: 0,
      lifetimeMs: LIFETIMES_MS[user % LIFETIMES_MS.length] as number,
      revokedAt: Math.random() < REVOKED ? start + Math.random() * 24 * HOUR_MS : Number.POSITIVE_INFINITY,
    }
    grants.set(`refresh-${user}`, grant)
    await consent(first, { ...issue(grant), refreshToken: `refresh-${user}` }, refOf(user))
    activeFrom.push(Array.from({ length: SESSIONS }, () => start + Math.random() * 24 * HOUR_MS))
  }

  /** The tokens for which a refresh was needed: a call came when they had expired, or were about to. */
  const needed = new Set<string>()
  async function call(user: number): Promise<void> {
    const grant = grants.get(`refresh-${user}`) as Grant
    const marginMs = Math.min(60_000, grant.lifetimeMs / 5)
    if (grant.revokedAt > time && !isOut() && grant.expiresAt - time <= marginMs) needed.add(grant.access)
    counts.calls++
    const vault = vaults[Math.floor(Math.random() * PROCESSES)]
    const token = await vault?.accessToken(refOf(user)).catch(() => null)
    if (token === null) counts.failedCalls++
    else if (token !== grant.access) counts.wrongTokens++
  }

  const chance = (CALLS_PER_MINUTE * STEP_MS) / 60_000
  for (; time < start + 24 * HOUR_MS; time += STEP_MS) {
    const calls: Promise<void>[] = []
    for (let user = 0; user < USERS; user++) {
      const isActive = activeFrom[user]?.some((from) => time >= from && time < from + SESSION_MS)
      // Two requests of one user at the same time, as a page makes them.
      if (isActive && Math.random() < chance) calls.push(call(user), call(user))
    }
    await Promise.all(calls)
    await Promise.all(vaults.map((vault) => vault.idle()))
  }
  counts.needed = needed.size
  const found = await Promise.all(Array.from({ length: USERS }, (_, user) => first.find(refOf(user))))
  const active = found.filter((connection) => connection && connection.view.state !== 'revoked').length
  const revoked = [...grants.values()].filter(({ revokedAt }) => revokedAt < time).length
  console.log(`24 h of ${USERS} users on ${PROCESSES} processes, in ${Math.round((performance.now() - startedAt) / 1000)} s
calls: ${counts.calls}, of which ${counts.failedCalls} failed: revoked connections, and tokens that expired in one of ${OUTAGES.length} outages
refreshes: ${counts.refreshes} made, ${counts.needed} needed: ${(counts.refreshes / counts.needed).toFixed(4)} (target: <= 1.01)
token requests during outages: ${counts.duringOutages}; calls that got another token than the latest: ${counts.wrongTokens} (target: 0)
consents withdrawn: ${revoked}; noticed at a later call: ${counts.noticed}; active connections: ${active}
`)
  await store.close()
}
