import type { Platform } from '../../connect/index.ts'
import type { KeyValueStore } from '../../connect/stores.ts'
import { fingerprintKey } from './fingerprints.ts'
import { type Flow, MAX_STEPS, type Step } from './flow.ts'
import type { FlowStore } from './flow-store.ts'
import { type FetchPageSteps, missingPageSteps, withHiddenPages } from './sandbox-pages.ts'

export interface FlowReader {
  /** Resolves to a flow with what the sandbox knows of it by now, or null. Throws `StoreUnavailableError`. */
  load(userId: string, id: string): Promise<Flow | null>
}

export interface FlowReaderOptions {
  platform: Platform
  flows: FlowStore
  store: KeyValueStore
  /** Undefined if the platform is not the sandbox. */
  fetchPageSteps: FetchPageSteps | undefined
}

export function createFlowReader({ platform, flows, store, fetchPageSteps }: FlowReaderOptions): FlowReader {
  return {
    async load(userId, id) {
      const flow = await flows.find(userId, id)
      if (!flow || !fetchPageSteps || flow.steps.length >= MAX_STEPS) return flow
      const steps = await missingPageSteps(platform, flow, fetchPageSteps, await fingerprintKey(store))
      if (steps.length === 0) return flow
      await flows.append(userId, [{ id, bxcontext: flow.bxcontext, steps }])
      return flows.find(userId, id)
    },
  }
}

/** A step as it is shown, with its number. */
export type NumberedStep = Step & { number: number }

/** The steps of a flow in their order, with the platform's pages that cannot be seen from here. */
export const numberedSteps = (flow: Flow): NumberedStep[] =>
  withHiddenPages(flow.steps).map((step, index) => ({ number: index + 1, ...step }))
