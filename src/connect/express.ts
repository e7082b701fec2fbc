/** The connect flow as Express routes. */
export { redirectFailedCallback } from './authorization/callback.ts'
export { connectRoutes } from './authorization/routes.ts'
export { browserSession, type ConnectPages } from './authorization/visit.ts'
