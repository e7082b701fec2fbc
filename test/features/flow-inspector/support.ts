import { vi } from 'vitest'
import type { Running } from '../../support/app.ts'
import type { Visitor } from '../../support/visitor.ts'

export interface ShownParameter {
  name: string
  value?: string
  fingerprint?: string
}

export interface ShownPart {
  headers: ShownParameter[]
  parameters: ShownParameter[]
}

export interface ShownStep {
  number: number
  at: string
  ms: number
  from: string
  to: string
  topic: string
  title: string
  failure?: string
  request?: ShownPart & { method: string; url: string }
  response?: ShownPart & { status: number }
}

export interface ShownFlow {
  id: string
  kind: string
  call: string | null
  outcome: string
  startedAt: string
  endedAt: string | null
  bxcontext: string | null
  steps: ShownStep[]
}

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
export const fingerprintIn = (parameters: ShownParameter[] | undefined, name: string) =>
  parameters?.find((parameter) => parameter.name === name)?.fingerprint
