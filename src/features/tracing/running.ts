/** Set while traces are collected. `start.ts` has to be loaded first, before the app; the feature ends it. */
export const running: { stop?: () => Promise<void> } = {}
