/** The problems in a file: the first places of each kind, and the number of all. */
import { INVISIBLE } from './cells.ts'
import { type Expectation, texts } from './texts.ts'

/** Problems with the same column and expectation. */
export interface ProblemKind extends Expectation {
  /** The column's name, or "column 7" if it has no name. */
  column: string
  count: number
  /**
   * The first places in the order of the file: at most 10, and 100 of all kinds. `line`: from 1. `found`: the cell, shortened, with
   * invisible characters shown by their numbers.
   */
  places: { line: number; found: string }[]
}

export interface FileProblems {
  /** Why the whole file is refused, as a sentence; null if only these places are wrong. */
  refused: string | null
  kinds: ProblemKind[]
}

const MAX_OF_A_KIND = 10
const MAX_LISTED = 100
const MAX_FOUND = 40

/** Collects the problems of a file. */
export class Problems {
  refused: string | null = null
  readonly #kinds = new Map<string, ProblemKind>()
  #listed = 0

  get isEmpty(): boolean {
    return this.refused === null && this.#kinds.size === 0
  }

  get all(): FileProblems {
    return { refused: this.refused, kinds: [...this.#kinds.values()] }
  }

  /** `also`: describes the place of a duplicate. */
  add(line: number, column: string, { expected, cure }: Expectation, found: string, also = ''): void {
    const key = `${column}\n${expected}`
    const kind = this.#kinds.get(key) ?? { column, expected, cure, count: 0, places: [] }
    this.#kinds.set(key, kind)
    kind.count++
    if (kind.places.length === MAX_OF_A_KIND || this.#listed === MAX_LISTED) return
    this.#listed++
    const cell = shown(found)
    kind.places.push({ line, found: also ? texts.also(cell, also) : cell })
  }
}

const EACH_INVISIBLE = new RegExp(INVISIBLE, 'gu')

/** Formats a cell for display: its beginning, with invisible characters as code numbers. */
export function shown(cell: string): string {
  const characters = [...cell.slice(0, 2 * MAX_FOUND + 1)]
  const start = characters.length > MAX_FOUND ? `${characters.slice(0, MAX_FOUND - 1).join('')}…` : cell
  return start.replace(EACH_INVISIBLE, (character) =>
    texts.invisible((character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')),
  )
}
