import * as z from 'zod'
import { PlatformUnavailableError } from '../../../connect/errors.ts'
import { type Connect, parseJson } from '../../../connect/index.ts'
import { type KeyValueStore, update } from '../../../connect/stores.ts'
import type { User } from '../../../web/user.ts'
import { KINDS } from '../flow.ts'
import type { FlowStore } from '../flow-store.ts'
import { observe, type Scenario } from './scenarios.ts'
import { createStage, type Stage } from './stage.ts'

export const resultSchema = z.object({
  name: z.string(),
  asExpected: z.boolean(),
  /** ISO 8601. */
  at: z.string(),
  seconds: z.number(),
  observations: z.array(z.object({ expected: z.string(), observed: z.string(), ok: z.boolean() })),
  /** The flows that it made, those that show it best first. `shows`: whether one shows what the scenario is about. */
  flows: z.array(z.object({ id: z.string(), kind: z.enum(KINDS), outcome: z.string(), shows: z.boolean() })),
})
export type ScenarioResult = z.infer<typeof resultSchema>

export interface PlayerOptions {
  connect: Connect
  store: KeyValueStore
  flows: FlowStore
  /** Stores what was recorded so far. */
  flush(): Promise<void>
  baseUrl: string
  sandboxUrl: string
}

/** The user of a demo. The demo's sign-in takes the name for the id. */
export const DEMO_USER: User = { id: 'Alex', name: 'Alex' }

const RESULTS_MS = 24 * 3_600_000

/** Plays scenarios between this app and the sandbox, one at a time: they set faults, which all of them share. */
export class ScenarioPlayer {
  readonly #options: PlayerOptions
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: PlayerOptions) {
    this.#options = options
  }

  /** Plays a scenario as this user. Throws `PlatformUnavailableError` if it cannot be prepared. */
  play(scenario: Scenario, user: User): Promise<ScenarioResult> {
    return this.#oneAtATime(async () => {
      const result = await playScenario(this.#options, scenario, user)
      const change = (value: string | null) =>
        JSON.stringify({ ...parseResults(value), [scenario.name]: result })
      await update(this.#options.store, resultsKey(user.id), change, RESULTS_MS)
      return result
    })
  }

  /** The user's latest result of each scenario, by name. */
  async results(userId: string): Promise<Record<string, ScenarioResult>> {
    return parseResults(await this.#options.store.get(resultsKey(userId)))
  }

  /**
   * Starts a new demo: the sandbox is as it was at first, and `DEMO_USER` has no connections, no flows, and nothing else. Throws
   * `PlatformUnavailableError` if the sandbox does not answer.
   */
  startDemo(): Promise<void> {
    const { connect, store, flush, sandboxUrl } = this.#options
    return this.#oneAtATime(async () => {
      const response = await fetch(`${sandboxUrl}/sandbox/reset`, { method: 'POST' }).catch(() => null)
      if (!response?.ok) throw new PlatformUnavailableError('no_answer', 'the sandbox did not reset itself')
      const { id: userId } = DEMO_USER
      for (const { bxcontext } of await connect.vault.list(userId))
        await connect.vault.disconnect({ userId, bxcontext })
      await flush()
      for (const { key } of await store.ofOwner(userId)) await store.delete(key)
    })
  }

  #oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work)
    this.#last = result.catch(() => {})
    return result
  }
}

const resultsKey = (userId: string) => ({ kind: 'scenario-results', owner: userId, id: '' })

/** Results that cannot be read, for example of another version, count as absent. */
const parseResults = (value: string | null): Record<string, ScenarioResult> =>
  z.record(z.string(), resultSchema).safeParse(parseJson(value ?? '')).data ?? {}

async function playScenario(options: PlayerOptions, scenario: Scenario, user: User): Promise<ScenarioResult> {
  const { connect, flows, flush, baseUrl, sandboxUrl } = options
  const startedAt = Date.now()
  const stage = await createStage({
    platform: connect.platform,
    appUrl: baseUrl,
    sandboxUrl,
    user,
    vault: connect.vault,
    scopes: connect.oauth.scopes,
    async flowsSince(time) {
      await flush()
      const summaries = (await flows.list(user.id)).filter((flow) => Date.parse(flow.startedAt) >= time)
      const found = summaries.toReversed().map(async (summary) => ({
        summary,
        flow: await flows.find(user.id, summary.id),
      }))
      return (await Promise.all(found)).flatMap(({ summary, flow }) => (flow ? { summary, flow } : []))
    },
  }).catch(() => {
    throw new PlatformUnavailableError('no_answer', 'a scenario could not be prepared')
  })
  const observations = await observe(scenario, stage).catch((error: unknown) => {
    const observed = error instanceof Error ? error.message : 'an unknown error'
    return [{ expected: 'The scenario runs to its end', observed, ok: false }]
  })
  // A fault that stays says so under Control.
  await stage.clearFaults().catch(() => {})
  return {
    name: scenario.name,
    asExpected: observations.every(({ ok }) => ok),
    at: new Date(startedAt).toISOString(),
    seconds: (Date.now() - startedAt) / 1000,
    observations,
    flows: await madeFlows(scenario, stage),
  }
}

async function madeFlows(scenario: Scenario, stage: Stage): Promise<ScenarioResult['flows']> {
  const made = (await stage.flows()).map(({ summary, flow }) => {
    const { id, kind, outcome } = summary
    return { id, kind, outcome, shows: scenario.shows(summary, flow) }
  })
  return made.sort((a, b) => Number(b.shows) - Number(a.shows))
}
