import * as z from 'zod'
import { PlatformUnavailableError } from '../../../connect/errors.ts'
import { type Connect, parseJson } from '../../../connect/index.ts'
import type { KeyValueStore } from '../../../connect/stores.ts'
import { KINDS } from '../flow.ts'
import type { FlowReader } from '../flow-reader.ts'
import type { FlowStore } from '../flow-store.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'
import { createStage } from './stage.ts'

export const resultSchema = z.object({
  name: z.string(),
  asExpected: z.boolean(),
  /** ISO 8601. */
  at: z.string(),
  seconds: z.number(),
  observations: z.array(z.object({ expected: z.string(), observed: z.string(), ok: z.boolean() })),
  /** The flows that it made, those that show it best first. */
  flows: z.array(
    z.object({
      id: z.string(),
      kind: z.enum(KINDS),
      outcome: z.string(),
      /** Whether it shows what the scenario is about. */
      shows: z.boolean(),
    }),
  ),
})
export type ScenarioResult = z.infer<typeof resultSchema>

export interface ScenarioRunner {
  /** Runs a scenario as this user; one at a time. */
  run(scenario: Scenario, user: { id: string; name: string }): Promise<ScenarioResult>
  /** The user's latest result of each scenario, by name. */
  results(userId: string): Promise<Map<string, ScenarioResult>>
  /** Puts the sandbox, the user's connections, flows and results back to how they were at first. */
  reset(userId: string): Promise<void>
}

export interface ScenarioRunnerOptions {
  connect: Connect
  store: KeyValueStore
  flows: FlowStore
  reader: FlowReader
  /** Stores what the flow inspector has recorded so far. */
  flush(): Promise<void>
  baseUrl: string
  sandboxUrl: string
}

const RESULT_MS = 24 * 3_600_000
const resultKey = (userId: string, name: string) => ({ kind: 'scenario-result', owner: userId, id: name })

export function createScenarioRunner(options: ScenarioRunnerOptions): ScenarioRunner {
  const { connect, store, flows, sandboxUrl } = options
  let last: Promise<unknown> = Promise.resolve()

  /** Scenarios set faults of the sandbox, which all of them share. */
  function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work, work)
    last = result.catch(() => {})
    return result
  }

  return {
    run: (scenario, user) =>
      oneAtATime(async () => {
        const result = await runScenario(options, scenario, user)
        await store.set(resultKey(user.id, scenario.name), JSON.stringify(result), RESULT_MS)
        return result
      }),

    async results(userId) {
      const values = await Promise.all(SCENARIOS.map(({ name }) => store.get(resultKey(userId, name))))
      const results = values.flatMap((value) => resultSchema.safeParse(parseJson(value ?? '')).data ?? [])
      return new Map(results.map((result) => [result.name, result]))
    },

    reset: (userId) =>
      oneAtATime(async () => {
        const response = await fetch(`${sandboxUrl}/sandbox/reset`, { method: 'POST' }).catch(() => null)
        if (!response?.ok) throw new PlatformUnavailableError('no_answer', 'the sandbox did not reset itself')
        for (const { bxcontext } of await connect.vault.list(userId))
          await connect.vault.disconnect({ userId, bxcontext })
        await options.flush()
        await flows.clear(userId)
        await Promise.all(SCENARIOS.map(({ name }) => store.delete(resultKey(userId, name))))
      }),
  }
}

async function runScenario(
  { connect, flows, reader, flush, baseUrl, sandboxUrl }: ScenarioRunnerOptions,
  scenario: Scenario,
  user: { id: string; name: string },
): Promise<ScenarioResult> {
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
      const found = await Promise.all(
        summaries
          .toReversed()
          .map(async (summary) => ({ summary, flow: await reader.load(user.id, summary.id) })),
      )
      return found.flatMap(({ summary, flow }) => (flow ? { summary, flow } : []))
    },
  }).catch(() => {
    throw new PlatformUnavailableError('no_answer', 'a scenario could not be prepared')
  })
  let observations: ScenarioResult['observations']
  try {
    observations = await scenario.run(stage)
  } catch (error) {
    const observed = error instanceof Error ? error.message : 'an unknown error'
    observations = [{ expected: 'The scenario runs to its end', observed, ok: false }]
  }
  // A fault that stays says so under Control.
  await stage.sandbox.clearFaults().catch(() => {})
  const made = (await stage.flows()).map(({ summary, flow }) => ({
    ...summary,
    shows: scenario.shows(flow, summary),
  }))
  made.sort((a, b) => Number(b.shows) - Number(a.shows))
  return {
    name: scenario.name,
    asExpected: observations.every(({ ok }) => ok),
    at: new Date(startedAt).toISOString(),
    seconds: (Date.now() - startedAt) / 1000,
    observations,
    flows: made.map(({ id, kind, outcome, shows }) => ({ id, kind, outcome, shows })),
  }
}
