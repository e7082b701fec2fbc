import { AsyncLocalStorage } from 'node:async_hooks'

/** The current HTTP request: every log line that is written while it is handled carries its id. */
export const requestContext = new AsyncLocalStorage<{ requestId: string }>()
