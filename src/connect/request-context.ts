import { AsyncLocalStorage } from 'node:async_hooks'

/** The request that is being answered: whatever is logged on its behalf carries its id. */
export const requestContext = new AsyncLocalStorage<{ requestId: string }>()
