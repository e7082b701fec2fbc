/** The connect flow as Express routes, and what describes a route. */
export {
  type BeforeHop,
  type ConnectPages,
  connectRoutes,
  HOPS,
  type Hop,
  redirectFailedCallback,
} from './authorization/routes.ts'
export { type DescribedHandler, describeRoute, type RouteDescription } from './describe-route.ts'
