/** The connect flow as Express routes. */
export { redirectFailedCallback } from './authorization/callback.ts'
export { connectRoutes } from './authorization/routes.ts'
export { browserSession, type ConnectPages, type HopEvent, type OnHop } from './authorization/visit.ts'
