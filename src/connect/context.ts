import { AsyncLocalStorage } from 'node:async_hooks'

/** The user, connection, flow and request of the current work, for log lines and listeners. It contains no secrets. */
export interface WorkContext {
  userId?: string
  bxcontext?: string
  /** The id of the connect flow. */
  flowId?: string
  /** The HTTP request of this app that is being handled. */
  requestId?: string
}

/** The current HTTP request, and its connect flow once that is known. Every log line of the request includes both ids. */
export const requestContext = new AsyncLocalStorage<{ requestId: string; flowId?: string }>()

/** Notes that the current HTTP request belongs to this connect flow. */
export function noteFlow(flowId: string): void {
  const request = requestContext.getStore()
  if (request) request.flowId = flowId
}

/** The connection or flow of the current work. Everything that the work awaits inherits it. */
export const workContext = new AsyncLocalStorage<WorkContext>()

/** Returns the context of the current work, extended by `about`. */
export const contextOf = (about: WorkContext = {}): WorkContext => ({
  ...requestContext.getStore(),
  ...workContext.getStore(),
  ...about,
})
