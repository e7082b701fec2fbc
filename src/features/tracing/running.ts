import type { Logger } from 'pino'

/**
 * Set while traces are collected. `start.ts` has to be loaded first, before the app; the feature ends it, and sets the rest.
 */
export const running: {
  stop?: () => Promise<void>
  log?: Logger
  /** The template of an address of the platform, such as `/leads/:id`; set once the contracts are loaded. */
  templateOf?: (url: URL) => string | undefined
} = {}
