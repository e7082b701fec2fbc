import { type RequestHandler, Router } from 'express'
import type { KeyValueStore } from '../../connect/stores.ts'

/** The shortest time between two writes to the store, in ms, for any number of clients. */
const EVERY_MS = 1_000

/**
 * Health checks; mount them at `/health`. `live`: the process is running. `ready`: the store also accepts writes, and the process
 * is not about to stop.
 */
export function healthRoutes(store: Pick<KeyValueStore, 'ping'>, closingSignal?: AbortSignal): Router {
  const ping = everySecond(() => store.ping())
  return Router()
    .get('/live', (_req, res) => {
      res.json({ status: 'live' })
    })
    .get(
      '/ready',
      readiness(async () => {
        closingSignal?.throwIfAborted()
        await ping()
      }),
    )
}

/** Runs one check at a time, and starts the next at least a second after it. Callers in that time share its result. */
function everySecond(check: () => Promise<void>): () => Promise<void> {
  let outcome: Promise<void> | undefined
  let freshUntil = 0
  return () => {
    if (outcome && performance.now() < freshUntil) return outcome
    freshUntil = Infinity
    outcome = check().finally(() => {
      freshUntil = performance.now() + EVERY_MS
    })
    return outcome
  }
}

/** A readiness check: 200 if `check` resolves, otherwise 503. */
export function readiness(check: () => Promise<unknown>): RequestHandler {
  return async (_req, res) => {
    const ready = await check().then(
      () => true,
      () => false,
    )
    res.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'unavailable' })
  }
}
