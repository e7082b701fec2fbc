import { Router } from 'express'
import type { KeyValueStore } from '../connect/store/store.ts'

/** For the machine that runs the app: `live` says the process is up, `ready` that the store answers too. */
export function healthRoutes(store: Pick<KeyValueStore, 'ping'>): Router {
  return Router()
    .get('/health/live', (_req, res) => {
      res.json({ status: 'live' })
    })
    .get('/health/ready', async (_req, res) => {
      const ready = await store.ping().then(
        () => true,
        () => false,
      )
      res.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'unavailable' })
    })
}
