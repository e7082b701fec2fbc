import { AsyncLocalStorage } from 'node:async_hooks'

/** The user, connection, flow and request that some work belongs to, for log lines and listeners. None of it is a secret. */
export interface WorkContext {
  userId?: string
  bxcontext?: string
  /** The id of the connect flow. */
  flowId?: string
  /** The HTTP request of this app that is being handled. */
  requestId?: string
}

/** The current HTTP request, and its connect flow as soon as it is known: every log line of the request carries both ids. */
export const requestContext = new AsyncLocalStorage<{ requestId: string; flowId?: string }>()

/** Notes that the current HTTP request belongs to this connect flow. */
export function noteFlow(flowId: string): void {
  const request = requestContext.getStore()
  if (request) request.flowId = flowId
}

/** The connection or flow of the current work. Everything that the work awaits inherits it. */
export const workContext = new AsyncLocalStorage<WorkContext>()

/** Returns what the current work belongs to, with what `about` adds. */
export const contextOf = (about: WorkContext = {}): WorkContext => ({
  ...requestContext.getStore(),
  ...workContext.getStore(),
  ...about,
})
