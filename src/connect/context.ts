import { AsyncLocalStorage } from 'node:async_hooks'

/** What some work belongs to: for log lines, and for those who follow exchanges and changes. None of it is a secret. */
export interface WorkContext {
  userId?: string
  bxcontext?: string
  /** The id of the connect flow. */
  flowId?: string
  /** The HTTP request of this app that is being handled. */
  requestId?: string
}

/** The current HTTP request: every log line that is written while it is handled carries its id. */
export const requestContext = new AsyncLocalStorage<{ requestId: string }>()

/** The connection or flow of the current work; everything that it awaits inherits it. */
export const workContext = new AsyncLocalStorage<WorkContext>()

/** What the current work belongs to, and what `about` adds to it. */
export const contextOf = (about: WorkContext = {}): WorkContext => ({
  ...requestContext.getStore(),
  ...workContext.getStore(),
  ...about,
})
