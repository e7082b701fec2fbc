import type { Assumption } from '../../../connect/index.ts'
import type { Contract, Finding } from '../../../web/kit.ts'
import { placeOf } from '../../contracts.ts'

interface Observation {
  kind: 'not seen' | 'as assumed' | 'different'
  seen: string[]
  /** Whether the app works. */
  copes: boolean
}

const RANK: Record<Observation['kind'], number> = { 'not seen': 0, 'as assumed': 1, different: 2 }

/**
 * Compares the platform with the assumptions of the contracts. Several observations may concern one assumption: it is confirmed
 * only if none of them differs. What was seen is told in names, types and statuses of the platform, never in values.
 */
export class Comparisons {
  readonly #contracts: readonly Contract[]
  readonly #observations = new Map<string, Observation>()
  readonly #hidden: string[] = []

  constructor(contracts: readonly Contract[]) {
    this.#contracts = contracts
  }

  confirm(id: string, seen: string): void {
    this.#add(id, 'as assumed', seen, true)
  }

  /** `copes`: whether the app works nevertheless. */
  differ(id: string, seen: string, copes: boolean): void {
    this.#add(id, 'different', seen, copes)
  }

  /** Confirms the assumption, or says what differs. */
  compare(id: string, isAsAssumed: boolean, seen: string, copes: boolean): void {
    if (isAsAssumed) this.confirm(id, seen)
    else this.differ(id, seen, copes)
  }

  /** `how`: how it could be seen. */
  notSeen(id: string, how: string): void {
    this.#add(id, 'not seen', how, true)
  }

  /** Values that no finding may have, in case the platform uses them as names. */
  hide(...values: (string | null | undefined)[]): void {
    for (const value of values) if (value && value.length > 3) this.#hidden.push(value)
  }

  /** A finding for each assumption of all contracts, the most important ones first. */
  findings(): Finding[] {
    return this.#contracts
      .flatMap((contract) => contract.assumptions.map((assumption) => ({ contract, assumption })))
      .toSorted((one, other) => one.assumption.importance - other.assumption.importance)
      .map(({ contract, assumption }) =>
        toFinding(contract, assumption, this.#observations.get(assumption.id)),
      )
  }

  #add(id: string, kind: Observation['kind'], text: string, copes: boolean): void {
    if (!this.#contracts.some(({ assumptions }) => assumptions.some((known) => known.id === id)))
      throw new Error(`no contract has the assumption ${id}`)
    const before = this.#observations.get(id)
    if (before && RANK[before.kind] > RANK[kind]) return
    // Only the latest reason why something was not seen counts.
    const isSameKind = before?.kind === kind && kind !== 'not seen'
    const shown = this.#hidden.reduce((rest, value) => rest.replaceAll(value, '(a value)'), text)
    const seen = isSameKind ? [...new Set([...before.seen, shown])] : [shown]
    this.#observations.set(id, { kind, seen, copes: copes && (!isSameKind || before.copes) })
  }
}

/** The text of an assumption stands in its contract; the finding adds what was seen. */
function toFinding(contract: Contract, assumption: Assumption, observation?: Observation): Finding {
  const { id, topic, assumed, setting, cure, otherwise } = assumption
  if (!observation)
    return otherwise
      ? { id, status: 'not checked', text: `${topic}: ${otherwise}` }
      : { id, status: 'not seen', text: `${topic}: The check did not get there.` }
  const { kind, copes } = observation
  const seen = `${topic}: ${observation.seen.join('; ')}`
  if (kind === 'not seen') return { id, status: kind, text: seen }
  if (kind === 'as assumed') return { id, status: 'ok', text: seen }
  const places = [setting, `\`${placeOf(contract, assumption)}\``].filter(Boolean).join(', ')
  const works = copes ? 'The app works' : 'The app does not work'
  const text = `${seen}. ${works}. Assumed: ${assumed} What to do: ${cure} (${places})`
  const [, first] = /`(\w+)`/.exec(setting ?? '') ?? []
  return { id, status: copes ? 'warning' : 'failure', text, ...(first !== undefined && { setting: first }) }
}
