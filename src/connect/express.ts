/** The connect flow as Express routes, and what describes a route. */
export {
  type ConnectPages,
  connectRoutes,
  type HopEvent,
  type OnHop,
  redirectFailedCallback,
} from './authorization/routes.ts'
export { type DescribedHandler, describeRoute, type RouteDescription } from './describe-route.ts'
