/** The connect flow as Express routes. */
export {
  type BeforeHop,
  type ConnectPages,
  connectRoutes,
  HOPS,
  type Hop,
  redirectFailedCallback,
} from './authorization/routes.ts'
