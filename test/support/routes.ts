import { partsOf } from '../../src/app.ts'
import { routesOf } from '../../src/cli/routes.ts'
import type { Dependencies } from '../../src/dependencies.ts'

/** The paths of all routes for browsers, with this text in the place of each parameter. */
export function browserPaths(dependencies: Dependencies, parameter: string): string[] {
  const { open, connections, features, flow, pages } = partsOf(dependencies)
  const paths = [...open, ...connections, ...features, ...flow, ...pages]
    .flatMap(routesOf)
    .map(({ path }) => path)
  return [...new Set(paths)].map((path) => path.replaceAll(/:\w+/g, parameter))
}
