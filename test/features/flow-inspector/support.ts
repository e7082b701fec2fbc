import { vi } from 'vitest'
import type * as z from 'zod'
import type { Parameter } from '../../../src/features/flow-inspector/flow.ts'
import type { flowViewSchema } from '../../../src/features/flow-inspector/view.ts'
import type { Running } from '../../support/app.ts'
import type { Visitor } from '../../support/visitor.ts'

/** A flow and a step of it, as JSON. */
export type ShownFlow = z.infer<typeof flowViewSchema>

const JSON_ONLY = { accept: 'application/json' }

/** The visitor's flows, the latest first. */
export async function flowsOf(app: Running, visitor: Visitor): Promise<Omit<ShownFlow, 'steps'>[]> {
  return (await visitor.get(`${app.url}/flows`, JSON_ONLY)).json().flows
}

export async function flowWith(app: Running, visitor: Visitor, id: string): Promise<ShownFlow> {
  return (await visitor.get(`${app.url}/flows/${id}`, JSON_ONLY)).json()
}

/** The visitor's latest flow of this kind that has ended, as soon as it is recorded. */
export function latestFlow(
  app: Running,
  visitor: Visitor,
  kind: string,
  outcome?: string,
): Promise<ShownFlow> {
  return vi.waitFor(
    async () => {
      const flows = await flowsOf(app, visitor)
      const found = flows.find(
        (flow) => flow.kind === kind && flow.endedAt && (outcome === undefined || flow.outcome === outcome),
      )
      if (!found) throw new Error(`no ${kind} among ${JSON.stringify(flows)}`)
      return flowWith(app, visitor, found.id)
    },
    { timeout: 5_000, interval: 50 },
  )
}

/**
 * The visitor's latest refresh that asked the platform, as soon as it is recorded. A connection that a test stores directly
 * is recorded as a refresh as well, without a request.
 */
export function latestRefresh(app: Running, visitor: Visitor): Promise<ShownFlow> {
  return vi.waitFor(
    async () => {
      for (const { id, endedAt } of await flowsOf(app, visitor)) {
        const flow = await flowWith(app, visitor, id)
        if (endedAt && stepsOf(flow, 'token_refresh').length > 0) return flow
      }
      throw new Error('no refresh is recorded')
    },
    { timeout: 5_000, interval: 50 },
  )
}

/** The steps of a topic. */
export const stepsOf = (flow: ShownFlow, topic: string) => flow.steps.filter((step) => step.topic === topic)

/** The fingerprint of a parameter. */
export const fingerprintIn = (parameters: readonly Parameter[] | undefined, name: string) =>
  parameters?.find((parameter) => parameter.name === name)?.fingerprint
