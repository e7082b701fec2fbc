import { Router } from 'express'
import {
  badInput,
  currentUser,
  requireUser,
  sendPageOrJson,
  sendResultOrRedirect,
  showDeveloperPages,
  signIn,
  WebError,
} from '../../../web/feature-api.ts'
import { PAGE_DATA } from '../view.ts'
import { DEMO_USER, type ScenarioPlayer } from './player.ts'
import { SCENARIOS } from './scenarios.ts'

const NAME_RULE = `must be ${DEMO_USER.name}`
const NEW_DEMO = 'A new demo: you are Alex, who has no connections, and the sandbox has its samples.'

/** Routes that list and play scenarios. */
export function scenarioRoutes(player: ScenarioPlayer): Router {
  return Router()
    .get('/', (req, res) => {
      const results = player.results(requireUser(req))
      const scenarios = SCENARIOS.map(({ name, title, expect }) => {
        return { name, title, expect, result: results[name] ?? null }
      })
      sendPageOrJson(req, res, {
        view: 'flow-inspector/scenarios',
        title: 'Scenarios',
        data: { scenarios, ...PAGE_DATA },
        json: { scenarios },
      })
    })
    .post('/:id/run', async (req, res) => {
      requireUser(req)
      const user = currentUser(req)
      const scenario = SCENARIOS.find(({ name }) => name === req.params.id)
      if (!scenario || !user) throw new WebError(404, 'not_found', 'There is no such scenario.')
      const result = await player.play(scenario, user)
      await sendResultOrRedirect(req, res, `/scenarios#${scenario.name}`, result)
    })
}

/** The start page of a demo, and the route for its button. */
export function demoRoutes(player: ScenarioPlayer): Router {
  return Router()
    .get('/', (req, res) =>
      sendPageOrJson(req, res, {
        view: 'flow-inspector/demo',
        title: 'Show this app to someone',
        data: { keepNotice: true, ...PAGE_DATA },
        json: { name: DEMO_USER.name },
      }),
    )
    .post('/', async (req, res) => {
      // Only the button starts a demo, so that visitors who have not pressed it leave no data.
      if (req.body?.name !== DEMO_USER.name) throw badInput('name', NAME_RULE)
      await player.startDemo()
      showDeveloperPages(res)
      await signIn(req, DEMO_USER)
      const { name } = DEMO_USER
      await sendResultOrRedirect(req, res, '/connections', { user: { name } }, { notice: NEW_DEMO })
    })
}
