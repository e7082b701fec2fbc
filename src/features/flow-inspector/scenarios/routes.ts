import { Router } from 'express'
import * as z from 'zod'
import { describeRoute } from '../../../connect/express.ts'
import { WebError } from '../../../web/errors.ts'
import { sendPageOrJson, sendResultOrRedirect } from '../../../web/respond.ts'
import { currentUser, requireUser } from '../../../web/user.ts'
import { ASSETS } from '../pages.ts'
import { resultSchema, type ScenarioRunner } from './runner.ts'
import { SCENARIOS } from './scenarios.ts'

const scenarioSchema = z.object({
  name: z.string(),
  title: z.string(),
  expect: z.string(),
  result: resultSchema.nullable(),
})

/** Routes that list and run scenarios, and reset the demo. `canCallApi`: whether a feature offers a test of connections. */
export function scenarioRoutes(runner: ScenarioRunner, canCallApi: boolean): Router {
  const offered = SCENARIOS.filter(({ needsApi }) => !needsApi || canCallApi)
  return Router()
    .get(
      '/scenarios',
      describeRoute({
        summary: '`{scenarios}`, each with its latest `result`.',
        response: z.object({ scenarios: z.array(scenarioSchema) }),
      }),
      async (req, res) => {
        const results = await runner.results(requireUser(req))
        const scenarios = offered.map(({ name, title, expect }) => ({
          name,
          title,
          expect,
          result: results.get(name) ?? null,
        }))
        sendPageOrJson(req, res, {
          view: 'flow-inspector/scenarios',
          title: 'Scenarios',
          data: { scenarios, ...ASSETS },
          json: { scenarios },
        })
      },
    )
    .post(
      '/scenarios/reset',
      describeRoute({
        summary: "Resets the sandbox, and deletes the user's connections, flows, and results.",
        response: z.object({ reset: z.literal(true) }),
      }),
      async (req, res) => {
        await runner.reset(requireUser(req))
        const notice = 'The demo is back to its initial state: no connections, no flows, no faults.'
        await sendResultOrRedirect(req, res, '/scenarios', { reset: true }, { notice })
      },
    )
    .post(
      '/scenarios/:id/run',
      describeRoute({
        summary:
          'Runs a scenario; the id is its `name`. Answers `{name, asExpected, at, seconds, observations, flows}`.',
        response: resultSchema,
        errors: ['not_found'],
      }),
      async (req, res) => {
        requireUser(req)
        const user = currentUser(req)
        const scenario = offered.find(({ name }) => name === req.params.id)
        if (!scenario || !user) throw new WebError(404, 'not_found', 'There is no such scenario.')
        const result = await runner.run(scenario, user)
        await sendResultOrRedirect(req, res, `/scenarios#${scenario.name}`, result)
      },
    )
}
