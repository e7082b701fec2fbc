import { PlatformUnavailableError } from '../../../connect/errors.ts'
import { sentTo } from '../../../connect/index.ts'
import type { KeyValueStore } from '../../../connect/stores.ts'
import type { User } from '../../../web/feature-api.ts'
import type { Observation, Scenario } from './scenarios.ts'
import { createStage, type StageOptions } from './stage.ts'

export interface ScenarioResult {
  name: string
  asExpected: boolean
  /** ISO 8601. */
  at: string
  seconds: number
  observations: { expected: string; observed: string; ok: boolean }[]
  /** The flows that demonstrate the scenario. */
  flows: { id: string; outcome: string }[]
}

export interface PlayerOptions extends StageOptions {
  store: KeyValueStore
}

/** The user of a demo. The demo's sign-in uses the name as the id. */
export const DEMO_USER: User = { id: 'Alex', name: 'Alex' }

/** Plays scenarios between this app and the sandbox, one at a time, because all scenarios share the faults that they set. */
export class ScenarioPlayer {
  readonly #options: PlayerOptions
  /** The latest results of this process, by user and scenario. */
  readonly #results = new Map<string, Record<string, ScenarioResult>>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: PlayerOptions) {
    this.#options = options
  }

  /** Plays a scenario as this user. Throws `PlatformUnavailableError` if it cannot be prepared. */
  play(scenario: Scenario, user: User): Promise<ScenarioResult> {
    return this.#oneAtATime(async () => {
      const result = await playScenario(this.#options, scenario, user)
      this.#results.set(user.id, { ...this.results(user.id), [scenario.name]: result })
      return result
    })
  }

  /** The user's latest result of each scenario, by name. */
  results = (userId: string): Record<string, ScenarioResult> => this.#results.get(userId) ?? {}

  /**
   * Starts a new demo: resets the sandbox, and deletes the connections, the flows and everything else of `DEMO_USER`. Throws
   * `PlatformUnavailableError` if the sandbox does not answer.
   */
  startDemo(): Promise<void> {
    const { connect, store, flush, sandboxUrl, internalUrls } = this.#options
    return this.#oneAtATime(async () => {
      const url = sentTo(`${sandboxUrl}/sandbox/reset`, internalUrls)
      const response = await fetch(url, { method: 'POST' }).catch(() => null)
      if (!response?.ok) throw new PlatformUnavailableError('no_answer', 'the sandbox did not reset itself')
      const { id: userId } = DEMO_USER
      for (const { bxcontext } of await connect.vault.list(userId))
        await connect.vault.disconnect({ userId, bxcontext })
      await flush()
      for (const { key } of await store.ofOwner(userId)) await store.delete(key)
      this.#results.delete(userId)
    })
  }

  #oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work)
    this.#last = result.catch(() => {})
    return result
  }
}

async function playScenario(options: PlayerOptions, scenario: Scenario, user: User): Promise<ScenarioResult> {
  const startedAt = Date.now()
  const stage = await createStage(options, user).catch(() => {
    throw new PlatformUnavailableError('no_answer', 'a scenario could not be prepared')
  })
  const found = await scenario.play(stage).catch((error: unknown): Observation[] => {
    const observed = error instanceof Error ? error.message : 'an unknown error'
    return [['The scenario', 'runs to its end', observed]]
  })
  const observations = found.map(([what, expected, observed]) => ({
    expected: `${what}: ${expected}`,
    observed: String(observed),
    ok: observed === expected,
  }))
  const shown = (await stage.flows()).filter(({ summary, flow }) => scenario.shows(summary, flow))
  // If this fails, the fault still appears on the sandbox's Control page.
  await stage.clearFaults().catch(() => {})
  return {
    name: scenario.name,
    asExpected: observations.every(({ ok }) => ok),
    at: new Date(startedAt).toISOString(),
    seconds: (Date.now() - startedAt) / 1000,
    observations,
    flows: shown.map(({ summary: { id, outcome } }) => ({ id, outcome })),
  }
}
