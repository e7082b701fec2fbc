import type { Assumption } from '../../../connect/index.ts'
import { placeOf } from '../../contracts.ts'
import type { Contract } from '../../tools.ts'

/**
 * `not seen`: this run had no chance to see it, for example because a list was empty. `not checked`: no run can see it, and
 * the assumption says how to find out.
 */
export type Status = 'confirmed' | 'different' | 'not seen' | 'not checked'

/** What the probe found out about one assumption. Holds names, types and statuses of the platform, never values. */
export interface Result {
  id: string
  /** `core`, or the feature whose contract has the assumption. */
  contract: string
  topic: string
  assumed: string
  status: Status
  seen: string
  /** If different: whether the app works nevertheless. */
  copes?: boolean
  /** If different: what to do. */
  cure?: string
  /** If different: where to change the code, such as `src/connect/platform/contract.ts:97`. */
  change?: string
  /** If different: the setting that changes it without a change to the code. */
  setting?: string
}

export interface Results {
  confirm(id: string, seen: string): void
  differ(id: string, seen: string, copes: boolean): void
  notSeen(id: string, how: string): void
  /** Values that no result may have, in case the platform uses them as names. */
  hide(values: readonly (string | null | undefined)[]): void
  /** A result for each assumption of all contracts, the most important ones first. */
  list(): Result[]
}

interface Observation {
  status: Status
  seen: string[]
  copes: boolean
}

const RANK: Record<Status, number> = { 'not checked': 0, 'not seen': 0, confirmed: 1, different: 2 }

/** Collects observations. Several may concern one assumption: it is confirmed only if none of them differs. */
export function createResults(contracts: readonly Contract[]): Results {
  const observations = new Map<string, Observation>()
  const hidden: string[] = []
  const known = new Set(contracts.flatMap(({ assumptions }) => assumptions.map(({ id }) => id)))

  function add(id: string, status: Status, text: string, copes = true): void {
    if (!known.has(id)) throw new Error(`no contract has the assumption ${id}`)
    const before = observations.get(id)
    if (before && RANK[before.status] > RANK[status]) return
    // Only the latest reason why something was not seen counts.
    const isSameStatus = before?.status === status && status !== 'not seen'
    const shown = hidden.reduce((rest, value) => rest.replaceAll(value, '(a value)'), text)
    const seen = isSameStatus ? [...new Set([...before.seen, shown])] : [shown]
    observations.set(id, { status, seen, copes: copes && (!isSameStatus || before.copes) })
  }

  return {
    confirm: (id, seen) => add(id, 'confirmed', seen),
    differ: (id, seen, copes) => add(id, 'different', seen, copes),
    notSeen: (id, how) => add(id, 'not seen', how),
    hide: (values) =>
      void hidden.push(
        ...(values.filter((value) => typeof value === 'string' && value.length > 3) as string[]),
      ),
    list: () =>
      contracts
        .flatMap((contract) => contract.assumptions.map((assumption) => ({ contract, assumption })))
        .toSorted((one, other) => one.assumption.importance - other.assumption.importance)
        .map(({ contract, assumption }) => toResult(contract, assumption, observations.get(assumption.id))),
  }
}

function toResult(contract: Contract, assumption: Assumption, observation: Observation | undefined): Result {
  const { id, topic, assumed, setting, cure, otherwise } = assumption
  const result = { id, contract: contract.name, topic, assumed }
  if (!observation && otherwise) return { ...result, status: 'not checked', seen: otherwise }
  if (!observation) return { ...result, status: 'not seen', seen: 'The probe did not get there.' }
  const { status, copes } = observation
  const seen = observation.seen.join('; ')
  if (status !== 'different') return { ...result, status, seen }
  const change = placeOf(contract, assumption)
  return { ...result, status, seen, copes, cure, change, ...(setting && { setting }) }
}
