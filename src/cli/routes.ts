/** The routes of the app and its features, without starting the app. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IRoute, Router } from 'express'
import { partsOf } from '../app.ts'
import { createDependencies } from '../dependencies.ts'
import { createLog } from '../runtime/log.ts'
import { configOf } from '../runtime/run-app.ts'
import { demoEnv, sandboxSettings } from '../runtime/run-sandbox.ts'
import type { Part } from '../web/feature.ts'
import { templateOf } from '../web/requests/request-log.ts'

/** The routes of a part, each with its whole path. */
export const routesOf = ({
  path,
  router,
}: Pick<Part, 'path' | 'router'>): { path: string; route: IRoute }[] =>
  router.stack.flatMap(({ route, handle }) => {
    if (route) return [{ path: templateOf(path, route.path), route }]
    return isRouter(handle) ? routesOf({ path, router: handle }) : []
  })

const isRouter = (handler: unknown): handler is Router => typeof handler === 'function' && 'stack' in handler

/** The paths of the routes of an app without features, such as `/connections/:bxcontext/label`. So no feature's settings are needed. */
export async function mountedPaths(): Promise<string[]> {
  // A folder of its own, because the demo may be running.
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'routes-'))
  const env = { DATA_DIR }
  try {
    const config = configOf(demoEnv(env, await sandboxSettings(env)), [])
    const app = await createDependencies(config, createLog('silent'), [])
    const routes = Object.values(partsOf(app)).flat().flatMap(routesOf)
    await app.close()
    return [...new Set(routes.map(({ path }) => path))]
  } finally {
    rmSync(DATA_DIR, { recursive: true })
  }
}
