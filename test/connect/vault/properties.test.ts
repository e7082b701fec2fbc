import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  InvalidGrantError,
  PlatformUnavailableError,
  StoreUnavailableError,
} from '../../../src/connect/errors.ts'
import { platform, type Tokens, Vault } from '../../../src/connect/index.ts'
import { type KeyValueStore, openSqlite } from '../../../src/connect/stores.ts'
import { newKey, REF } from '../../support/vault.ts'

// Two processes on one store. A request for tokens waits until a step answers it, writes fail when a step says so, a process is
// killed at any point, and time is a number.

const answer = fc.constantFrom('ok', 'ok', 'same', 'invalid_grant', 'invalid_grant', 'refused', 'outage')
const by = fc.nat(1)
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('consent' as const), by }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('call' as const), by }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('disconnect' as const), by }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reject' as const), by }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('answer' as const), request: fc.nat(3), answer }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), by }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('label' as const), by }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.constantFrom(1, 6, 12, 59, 61, 301),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      loses: fc.constantFrom('write' as const, 'answer' as const),
      writes: fc.integer({ min: 1, max: 3 }),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** The outcome of a consent or a disconnect. */
interface Act {
  /** The number of a consent, which its tokens contain; null for a disconnect. */
  consent: number | null
  /** Whether it was completed; a killed process completes nothing. */
  isDone: boolean
}

class World {
  now = 1_800_000_000_000
  readonly keys = [newKey()]
  readonly inner = openSqlite({ file: ':memory:', now: () => this.now })
  /** Consents and disconnects, in the order in which they began. */
  readonly acts: Act[] = []
  readonly issued = new Set<string>()
  /** When the platform answered `invalid_grant` to a refresh, by the number of the consent. */
  readonly refusals: { consent: number; at: number }[] = []
  readonly served: string[] = []
  /** The label that was given last, and those that may have been given since: the store did not answer. */
  labels: (string | null)[] = [null]
  /** The connection's state according to the events. */
  told: 'none' | 'active' | 'revoked' = 'none'
  /** Whether a process was killed. */
  isBlurred = false
  requests: { process: number; settle(answer: string): void }[] = []
  #fault: { loses: 'write' | 'answer'; writes: number } = { loses: 'write', writes: 0 }
  #serial = 0
  #processes = [0, 1].map(() => this.#start())

  #start() {
    const id = ++this.#serial
    const process = { id, isAlive: true }
    /** A killed process gets no more answers. */
    const guarded =
      <A extends unknown[], T>(operation: (...args: A) => Promise<T>, isWrite: boolean) =>
      async (...args: A): Promise<T> => {
        if (!process.isAlive) return new Promise(() => {})
        const isFaulty = isWrite && this.#fault.writes > 0
        if (isFaulty) this.#fault.writes--
        if (isFaulty && this.#fault.loses === 'write') throw new StoreUnavailableError('refused')
        const result = await operation(...args)
        if (isFaulty) throw new StoreUnavailableError('the answer is lost')
        return result
      }
    const store: KeyValueStore = {
      ...this.inner,
      get: guarded(this.inner.get, false),
      getCached: guarded(this.inner.getCached, false),
      compareAndSet: guarded(this.inner.compareAndSet, true),
    }
    const refresh = async ({ refreshToken }: { refreshToken: string }) =>
      this.#request(id, Number(refreshToken.split(' ')[1]), true)
    const oauth = { scopes: [], refresh }
    const { keys } = this
    const vault = new Vault({ platform, store, keys, oauth, now: () => this.now, waitMs: 1 })
    vault.onChange((_ref, events) => {
      for (const { type } of events) {
        if (type === 'connected' || type === 'recovered') this.told = 'active'
        if (type === 'disconnected') this.told = 'none'
        if (type === 'revoked') this.told = 'revoked'
      }
    })
    return { process, vault }
  }

  #request(process: number, consent: number, isRefresh: boolean): Promise<Tokens> {
    return new Promise((resolve, reject) => {
      const request = { process, settle: (answered: string) => settle(answered) }
      const settle = (answered: string) => {
        this.requests = this.requests.filter((other) => other !== request)
        if (answered === 'ok' || answered === 'same') {
          const accessToken = `${isRefresh && answered === 'ok' ? ++this.#serial : 'first'} ${consent}`
          this.issued.add(accessToken)
          resolve({ accessToken, refreshToken: `refresh ${consent}`, expiresIn: 300, scopes: [] })
        } else if (answered === 'invalid_grant') {
          if (isRefresh) this.refusals.push({ consent, at: this.now })
          reject(new InvalidGrantError())
        } else if (answered === 'refused') reject(new PlatformUnavailableError('refused', 'refused'))
        else reject(new PlatformUnavailableError('error', 'outage'))
      }
      this.requests.push(request)
    })
  }

  async run(step: Step): Promise<void> {
    switch (step.do) {
      case 'consent':
        this.#consent(step.by)
        break
      case 'call':
        this.vault(step.by)
          .accessToken(REF)
          .then((token) => this.served.push(token))
          .catch(() => {})
        break
      case 'reject': {
        // The API answers 401 to the token that it gets.
        const source = this.vault(step.by).tokenSource(REF)
        source
          .accessToken()
          .then((token) => source.refresh(token))
          .catch(() => {})
        break
      }
      case 'disconnect': {
        const act: Act = { consent: null, isDone: false }
        this.acts.push(act)
        this.vault(step.by)
          .disconnect(REF)
          .then(() => {
            act.isDone = true
          })
          .catch(() => {})
        break
      }
      case 'label':
        void this.#label(this.vault(step.by))
        break
      case 'answer':
        this.requests[step.request % Math.max(1, this.requests.length)]?.settle(step.answer)
        break
      case 'kill':
        this.#kill(step.by)
        break
      case 'wait':
        this.now += step.seconds * 1000
        break
      case 'fault':
        this.#fault = { loses: step.loses, writes: step.writes }
        break
      default:
        step satisfies never
    }
    await turns()
  }

  #consent(index: number): void {
    const number = this.acts.length + 1
    const act: Act = { consent: number, isDone: false }
    this.acts.push(act)
    const { process, vault } = this.#processes[index] ?? this.#start()
    const request = () => this.#request(process.id, number, false)
    const connecting = vault.connect(REF, request)
    connecting
      .then(() => {
        act.isDone = true
      })
      .catch(() => {})
  }

  async #label(vault: Vault): Promise<void> {
    const label = `label ${++this.#serial}`
    try {
      await vault.label(REF, label)
      this.labels = [label]
    } catch (error) {
      if (error instanceof StoreUnavailableError) this.labels.push(label)
    }
  }

  #kill(index: number): void {
    const killed = this.#processes[index]
    if (!killed) return
    killed.process.isAlive = false
    this.isBlurred = true
    this.requests = this.requests.filter(({ process }) => process !== killed.process.id)
    this.#processes[index] = this.#start()
  }

  vault(index: number): Vault {
    return (this.#processes[index] ?? this.#start()).vault
  }

  /** Makes the store work again, answers every open request with an outage, and waits until the vaults are idle. */
  async end(): Promise<void> {
    this.#fault = { loses: 'write', writes: 0 }
    let isIdle = false
    const idle = Promise.all(this.#processes.map(({ vault }) => vault.idle())).then(() => {
      isIdle = true
    })
    // A caller that waited for the lease may send another request.
    while (!isIdle) {
      await turns()
      for (const request of this.requests) request.settle('outage')
    }
    await idle
    await turns()
  }
}

/** Lets all work continue that waits only for the store in memory. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
}

/** The token of a process that gets no answer to a refresh, or the code of the error. */
async function outcomeOf(world: World): Promise<string> {
  const oauth = { scopes: [], refresh: () => Promise.reject(new PlatformUnavailableError('error', 'outage')) }
  const now = () => world.now
  const vault = new Vault({ platform, store: world.inner, keys: world.keys, oauth, now, waitMs: 1 })
  return vault.accessToken(REF).then(
    () => 'token',
    (error: { code: string }) => error.code,
  )
}

/** A connection whose access token has expired. */
const EXPIRED: Step[] = [
  { do: 'consent', by: 0 },
  { do: 'answer', request: 0, answer: 'ok' },
  { do: 'wait', seconds: 301 },
]

const runs = fc.record({
  isConnected: fc.boolean(),
  hasKills: fc.boolean(),
  steps: fc.array(step, { maxLength: 30 }),
})

const property = fc.asyncProperty(runs, async ({ isConnected, hasKills, steps }) => {
  const world = new World()
  for (const next of [...(isConnected ? EXPIRED : []), ...steps])
    if (hasKills || next.do !== 'kill') await world.run(next)
  await world.end()
  const found = await world.vault(0).find(REF)
  const state = found?.view.state ?? 'none'
  const secrets = await world
    .vault(0)
    .accessToken(REF)
    .catch(() => null)

  // A token that is handed out was issued.
  for (const token of world.served) expect(world.issued).toContain(token)
  // The later of two consents wins, and a disconnected account stays disconnected.
  const latest = world.acts.findLast(({ isDone }) => isDone)
  if (!world.isBlurred && latest?.consent === null) expect(state).toBe('none')
  if (!world.isBlurred && latest && latest.consent !== null) expect(state).not.toBe('none')
  if (!world.isBlurred && secrets !== null && latest)
    expect(secrets).toMatch(new RegExp(` ${latest.consent}$`))
  // A label stays over refreshes, the end of access, and a new consent.
  const wasDisconnected = world.acts.some(({ consent }) => consent === null)
  if (!world.isBlurred && !wasDisconnected && found) expect(world.labels).toContain(found.label)
  // A failing platform ends nothing.
  const end = found?.view.state === 'revoked' ? found.view : null
  const refusedAt = world.refusals.filter(({ at }) => at === end?.at).map(({ consent }) => consent)
  if (end?.reason === 'invalid_grant') expect(refusedAt).not.toEqual([])
  // The tokens go only if the platform refuses the same consent again, a minute later or more.
  const isRepeated = ({ consent, at }: { consent: number; at: number }) =>
    refusedAt.includes(consent) && at >= (end?.at ?? at) + 60_000
  if (found && !found.tokens) expect(world.refusals.some(isRepeated)).toBe(true)
  // The events tell what the connection is.
  const coarse = state === 'none' || state === 'revoked' ? state : 'active'
  if (!world.isBlurred) expect(world.told).toBe(coarse)
  // The shown state matches the results of callers.
  const outcome = await outcomeOf(world)
  if (state === 'none') expect(outcome).toBe('not_connected')
  // While the tokens are kept, the platform is asked again after a pause, and may not answer then.
  if (end)
    expect(found?.tokens ? ['connection_revoked', 'platform_unavailable'] : ['connection_revoked']).toContain(
      outcome,
    )
  if (state === 'active' || state === 'degraded')
    expect(['token', 'platform_unavailable', 'misconfigured']).toContain(outcome)
  await world.inner.close()
})

test('in any order of consents, refreshes, disconnects, labels, answers, faults of the store and kills, the later act stays, and everybody sees the same', async () => {
  await fc.assert(property, { numRuns: 250 })
})
