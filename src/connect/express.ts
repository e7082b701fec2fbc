/** The connect flow as Express routes, and what describes a route. */
export { redirectFailedCallback } from './authorization/callback.ts'
export { connectRoutes } from './authorization/routes.ts'
export { browserSession, type ConnectPages, type HopEvent, type OnHop } from './authorization/visit.ts'
export { type DescribedHandler, describeRoute, type RouteDescription } from './describe-route.ts'
