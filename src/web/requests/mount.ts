import type { RequestHandler, Router } from 'express'

/** A router, and where `app.ts` mounts it: `app.use(path, router)`. */
export interface Part {
  /** In the syntax of Express, such as `/connections/:bxcontext/leads`. The log and the metrics name it. */
  path: string
  /** Its routes, and those of routers that it uses without a path, are below the path. Routes below another path are another part. */
  router: Router
}

declare module 'express-serve-static-core' {
  interface Locals {
    mountPath?: string
  }
}

/** Runs before the router of a part. Notes the path for the log, since `req.baseUrl` has the values of its parameters. */
export const noteMount =
  (path: string): RequestHandler =>
  (_req, res, next) => {
    res.locals.mountPath = path
    next()
  }

/** The path of a route of a part, such as `/connections/:bxcontext/leads/:id`. */
export const templateOf = (mountPath: string, routePath: string): string =>
  (mountPath === '/' ? '' : mountPath) + (routePath === '/' && mountPath !== '/' ? '' : routePath)
