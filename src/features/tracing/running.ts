import type { Logger } from 'pino'

/**
 * Set while traces are collected. `start.ts` has to be loaded first, before the app; the feature ends it, and sets the rest.
 */
export const running: {
  stop?: () => Promise<void>
  log?: Logger
  /** The template of a path of the platform, such as `/leads/:id`; the feature sets it once the contracts are loaded. */
  templateOf?: (path: string) => string | undefined
} = {}
