import { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import { describeRoute } from '../connect/express.ts'
import type { KeyValueStore } from '../connect/stores.ts'

/**
 * Health checks, to be mounted at `/health`: `live` if the process is running, `ready` if the store is reachable as well and the process is not about
 * to stop.
 */
export function healthRoutes(store: Pick<KeyValueStore, 'ping'>, drainSignal?: AbortSignal): Router {
  return Router()
    .get(
      '/live',
      describeRoute({
        summary: 'Answers `200` when the process is up.',
        response: z.object({ status: z.literal('live') }),
      }),
      (_req, res) => {
        res.json({ status: 'live' })
      },
    )
    .get(
      '/ready',
      describeRoute({
        summary: 'Answers `200` if the store is reachable and the app is not stopping, and `503` otherwise.',
        response: z.object({ status: z.enum(['ready', 'unavailable']) }),
      }),
      readiness(async () => {
        drainSignal?.throwIfAborted()
        await store.ping()
      }),
    )
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
