import type { Logger } from 'pino'

/**
 * Set while traces are collected. `start.ts` has to be loaded first, before the app; the feature ends it, and sets the log.
 */
export const running: { stop?: () => Promise<void>; log?: Logger } = {}
