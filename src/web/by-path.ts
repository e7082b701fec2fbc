import { type RequestHandler, Router } from 'express'
import { isRouter, routesOf } from './openapi.ts'

/**
 * Passes a request to the routers that have a route like its path, in their order, and to no other: a page of leads costs the
 * same however many features there are. A router of which the paths cannot be read meets every request.
 */
export function byPath(routers: readonly Router[]): RequestHandler {
  const known = routers.map((router) => ({ router, keys: keysOf(router) }))
  const routerOf = (key: string) =>
    inOrder(known.filter(({ keys }) => keys?.has(key) ?? true).map(({ router }) => router))
  const byKey = new Map<string, Router>()
  for (const { keys } of known) for (const key of keys ?? []) byKey.set(key, routerOf(key))
  const others = routerOf('')
  const handle: RequestHandler = (req, res, next) => (byKey.get(keyOf(req.path)) ?? others)(req, res, next)
  // For who reads the routes of the app.
  return Object.assign(handle, { stack: inOrder(routers).stack })
}

function inOrder(routers: readonly Router[]): Router {
  const all = Router()
  for (const router of routers) all.use(router)
  return all
}

/** What tells routes apart: the first segment of a path, and below `/connections/:bxcontext` what follows. */
function keyOf(path: string): string {
  const [, first = '', , third = ''] = path.toLowerCase().split('/', 4)
  return first === 'connections' ? `connections/${third}` : `/${first}`
}

/** Null if the paths cannot be read: it has middleware, a prefix, or a parameter or pattern in place of a name. */
function keysOf(router: Router): Set<string> | null {
  if (!isReadable(router)) return null
  const paths = routesOf(router).flatMap(({ path }) => path)
  const keys = paths.map((path) => (typeof path === 'string' ? keyOf(path) : ':'))
  return keys.some((key) => /[:*({]/.test(key)) ? null : new Set(keys)
}

const isReadable = (router: Router): boolean =>
  router.stack.every((layer) => {
    const { route, handle } = layer
    return route !== undefined || ('slash' in layer && layer.slash && isRouter(handle) && isReadable(handle))
  })
