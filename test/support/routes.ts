import type { IRoute, Router } from 'express'
import { partsOf } from '../../src/app.ts'
import type { Dependencies } from '../../src/dependencies.ts'
import type { Part } from '../../src/web/feature.ts'
import { templateOf } from '../../src/web/requests/request-log.ts'

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

/** The paths of all routes for browsers, with this text in the place of each parameter. */
export function browserPaths(dependencies: Dependencies, parameter: string): string[] {
  const { open, connections, features, flow, pages } = partsOf(dependencies)
  const paths = [...open, ...connections, ...features, ...flow, ...pages]
    .flatMap(routesOf)
    .map(({ path }) => path)
  return [...new Set(paths)].map((path) => path.replaceAll(/:\w+/g, parameter))
}
