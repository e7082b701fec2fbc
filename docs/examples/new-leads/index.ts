import * as z from 'zod'
import { AppError } from '../../connect/errors.ts'
import { connectionKind, sleep } from '../../connect/index.ts'
import { acquireLease, allOwners, appOwner } from '../../connect/stores.ts'
import type { Feature, FeatureDeps } from '../../web/feature-api.ts'

const LEASE = { kind: 'new-leads-lease', owner: appOwner('new-leads'), id: '' }
const call = { path: '/leads', scope: 'leads', schema: z.array(z.unknown()) }

async function round({ connect, store, log }: FeatureDeps, signal: AbortSignal): Promise<void> {
  for await (const userId of allOwners(store, connectionKind(connect.platform.name)))
    for (const { bxcontext } of await connect.vault.list(userId)) {
      signal.throwIfAborted()
      const source = connect.vault.tokenSource({ userId, bxcontext })
      try {
        const { total } = await connect.api.list(source, call, { top: 1, filter: "status eq 'New'" })
        log.info({ total }, 'new leads')
      } catch (error) {
        // One connection that fails does not stop the others.
        if (!(error instanceof AppError)) throw error
        log.warn({ code: error.code }, 'new leads')
      }
    }
}

/** Works as long as this process has the lease. */
async function work(deps: FeatureDeps): Promise<void> {
  const lease = await acquireLease(deps.store, LEASE, 15_000)
  if (!lease) return
  const signal = AbortSignal.any([deps.shutdownSignal, lease.lost])
  try {
    for (;;) {
      await round(deps, signal)
      await sleep(3_600_000, signal)
    }
  } finally {
    await lease.release()
  }
}

async function loop(deps: FeatureDeps): Promise<void> {
  const { log, shutdownSignal } = deps
  while (!shutdownSignal.aborted) {
    await work(deps).catch(() => shutdownSignal.aborted || log.warn('new leads: interrupted'))
    await sleep(1_000, shutdownSignal).catch(() => {})
  }
}

export default {
  title: 'New leads',
  order: 220,
  scopes: { leads: 'to count the new leads of the business' },
  create(deps) {
    let running = Promise.resolve()
    return {
      start() {
        running = loop(deps)
      },
      stop: () => running,
    }
  },
} satisfies Feature
